import type { Plans } from './files.ts'
import { isBoundedByItself, type Planned, type Section } from './golden.ts'
import type { Made } from './made.ts'
import { storeOfFile } from './stores.ts'

/** The site of statements that none of the known places has made. */
export const ELSEWHERE = '? elsewhere'

function storeOf({ site, store }: Pick<Made, 'site' | 'store'>): string {
  return storeOfFile(site) ?? (store || 'every-object')
}

const siteOf = ({ site }: Pick<Made, 'site'>) => (site === '?' ? ELSEWHERE : site)
const keyOf = (store: string, site: string, text: string) => `${store}\n${site}\n${text}`

const keyOfMade = (made: Made) => keyOf(storeOf(made), siteOf(made), made.text)

/**
 * The plans with the made statements added.
 * @param sites the existing functions
 * @param isAll whether all tests ran, so that statements that were not made are removed
 */
export function merged(plans: Plans, made: readonly Made[], sites: ReadonlySet<string>, isAll: boolean): Plans {
  const result: Plans = {}
  const sectionOf = (store: string, site: string): Section => {
    const sections = result[store] ?? []
    result[store] = sections
    const known = sections.find((section) => section.site === site)
    if (known) return known
    const section: Section = { site, places: [], statements: [] }
    sections.push(section)
    return section
  }
  const now = new Set(made.map(keyOfMade))
  for (const [store, sections] of Object.entries(plans))
    for (const { site, places, statements } of sections.filter((one) => sites.has(one.site) || one.site === ELSEWHERE)) {
      const section = sectionOf(store, site)
      if (!isAll) section.places.push(...places)
      section.statements.push(...statements.filter(({ text, seldom }) => !isAll || seldom !== null || now.has(keyOf(store, site, text))))
    }
  for (const one of made) {
    const section = sectionOf(storeOf(one), siteOf(one))
    if (one.place !== null && !section.places.includes(one.place)) section.places.push(one.place)
    if (one.text === '' || section.statements.some(({ text }) => text === one.text)) continue
    section.statements.push({ text: one.text, values: samplesOf(one), steps: [], seldom: null })
  }
  return result
}

/** Values are stored where SQLite may read them for its plan. */
const samplesOf = ({ values }: Made) => (values.some((value) => value !== 'x' && value !== null) ? values.map((value) => value ?? 'x') : [])

/** The statement with another plan. Reasons stay with their steps; a new step that needs a reason gets `reason`. */
export function replanned(statement: Planned, details: readonly string[], reason: string | null): Planned {
  const left = [...statement.steps]
  const steps = details.map((detail) => {
    const at = left.findIndex((step) => step.detail === detail)
    const [known] = at < 0 ? [] : left.splice(at, 1)
    const inText = /\/\* plan: (.+?) \*\//.exec(statement.text)?.[1] ?? null
    return { detail, reason: isBoundedByItself(statement, detail) ? null : (known?.reason ?? inText ?? reason) }
  })
  return { ...statement, steps }
}
