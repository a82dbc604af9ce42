import type { Sample, SampleValue } from './normal.ts'

// The plans of test/plans, as text and as values. Pure, because the runtime reads them as well as Node.

/** A step of a plan. */
export interface Step {
  detail: string
  /** The reason why the rows that it reads or sorts are bounded. */
  reason: string | null
}

export interface Planned extends Sample {
  steps: Step[]
  /** The reason why some runs of all tests do not make it; null for all others. */
  seldom: string | null
}

/** The statements of one function in one store. */
export interface Section {
  site: string
  /** The places of the function that have made statements here. */
  places: number[]
  statements: Planned[]
}

const HEAD = '== '
const VALUES = '   with '
const STEP = '   > '
const BOUNDED = ' -- bounded: '
const SELDOM = '   -- seldom: '
/**
 * Steps of a plan that read all of a table or an index, or sort. Rows of the statement itself and results of its own parts are excluded.
 */
const NEEDS_REASON = /^SCAN (?!json_each|\(|.*VIRTUAL TABLE)|^USE TEMP B-TREE/

/** Steps that order subqueries, and rows of the statement itself: they read nothing. */
const READS_NOTHING = /SUBQUERY|^COMPOUND QUERY|^UNION|^SCAN CONSTANT ROW|^SCAN \d+ CONSTANT|^LEFT-MOST|^INDEX \d+$|^MULTI-INDEX OR/

/** The steps of a plan that read or sort, each once. */
export function stepsOf(details: readonly string[]): string[] {
  return [...new Set(details.filter((detail) => !READS_NOTHING.test(detail)))]
}

/** Whether a step needs no reason: it searches, or reads rows that the statement itself made. */
export function isBoundedByItself({ text }: Sample, detail: string): boolean {
  if (!NEEDS_REASON.test(detail)) return true
  const scanned = /^SCAN (\S+)/.exec(detail)?.[1]
  return scanned !== undefined && madeHere(text).has(scanned.toLowerCase())
}

/** Names of common table expressions and of tables made of JSON or of values. */
function madeHere(text: string): Set<string> {
  const names = [
    ...text.matchAll(/(?:\bwith|\brecursive|\),) "?(\w+)"?(?: ?\([^()]*\))? as (?:not materialized |materialized )?\(/gi),
    ...text.matchAll(/json_(?:each|tree)\([^()]*(?:\([^()]*\)[^()]*)*\)(?: as)? "?(\w+)"?/gi),
  ]
  return new Set(names.flatMap(([, name = '']) => (name ? [name.toLowerCase()] : [])))
}

export function parseGolden(golden: string): Section[] {
  const sections: Section[] = []
  for (const line of golden.split('\n')) {
    const section = sections.at(-1)
    const statement = section?.statements.at(-1)
    if (line === '' || line.startsWith('#')) continue
    if (line.startsWith(HEAD)) {
      const [file = '', name = '', places = ''] = line.slice(HEAD.length).split(' ')
      sections.push({ site: `${file} ${name}`, places: places.split(',').map(Number), statements: [] })
    } else if (line.startsWith(VALUES)) statement?.values.push(...(JSON.parse(line.slice(VALUES.length)) as SampleValue[]))
    else if (line.startsWith(SELDOM) && statement) statement.seldom = line.slice(SELDOM.length)
    else if (line.startsWith(STEP)) {
      const [detail = '', reason = null] = line.slice(STEP.length).split(BOUNDED)
      statement?.steps.push({ detail, reason })
    } else section?.statements.push({ text: line, values: [], steps: [], seldom: null })
  }
  return sections
}

export function printGolden(store: string, sections: readonly Section[]): string {
  const lines = sections
    .toSorted((a, b) => (a.site < b.site ? -1 : 1))
    .flatMap(({ site, places, statements }) => [
      '',
      `${HEAD}${site} ${places.toSorted((a, b) => a - b).join(',')}`,
      ...statements
        .toSorted((a, b) => (a.text < b.text ? -1 : 1))
        .flatMap(({ text, values, steps, seldom }) => [
          text,
          ...(values.length > 0 ? [VALUES + JSON.stringify(values)] : []),
          ...(seldom === null ? [] : [SELDOM + seldom]),
          ...steps.map(({ detail, reason }) => STEP + detail + (reason === null ? '' : BOUNDED + reason)),
        ]),
    ])
  return `# Statements of ${store} and their plans. \`npm run plans\` keeps this file; only reasons are written by hand.\n${lines.join('\n')}\n`
}

/** Steps that need a reason and have none. */
export function unreasoned(statement: Planned): string[] {
  return statement.steps
    .filter(({ detail, reason }) => reason === null && !isBoundedByItself(statement, detail))
    .map(({ detail }) => detail)
}

/** The faults of a statement of a golden file, whose steps in the schema are these. */
export function faultsOf(statement: Planned, details: readonly string[]): string[] {
  const known = statement.steps.map(({ detail }) => detail)
  const faults = unreasoned(statement).map((detail) => `"${detail}" says no reason why it is bounded`)
  if (known.join('\n') === details.join('\n')) return faults
  return [...faults, `the plan was\n    ${known.join('\n    ')}\n  and is\n    ${details.join('\n    ')}`]
}
