import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from '../../support/unit.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const SPEC = readFileSync(join(ROOT, 'docs/SPEC.md'), 'utf8')
const CONTRIBUTING = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
const DECISIONS = readdirSync(join(ROOT, 'docs/adr'))

/** Prefixes that have the form of a rule family and are none: algorithms, encodings, and names of places and devices in tests. */
const NO_FAMILIES = ['AES', 'CRC', 'HTTP', 'RFC', 'SHA', 'UTF', 'DC', 'GPU', 'LAB', 'LOCAL', 'NOWHERE', 'XX']
/** Columns of the table of requirements in CONTRIBUTING.md, which concern the project and not a plane. */
const REQUIREMENTS = 'Requirement | Text'
const MAX_TEXT = 240
/** Columns of the tables of rules, invariants, promises and gaps. */
const HEADINGS = ['Rule | Status | Text', 'Invariant | A plane must | Rules', 'Promise | Text', 'Gap | Surface | Missing']
const ID = /^(?:[A-Z]{2,}-\d+[a-z]?|P\d+)$/
/** An id, or a range of them (`LSE-1…3`, `LSE-1 to LSE-12`); a promise only in brackets or lists, because `P1` is a word like others. */
const NAMED = /(?<![\w-])([A-Z]{2,})-(\d+[a-z]?)\b(?!-)(?:(?:…|\.\.| to )(?:\1-)?(\d+)\b)?|\bP\d+\b(?=[\],])/g

const sources = ['src', 'durable-objects', 'test', 'bench', 'scripts', 'examples', 'docs'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|py|md)$/.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => ({ folder, name: entry.name, text: readFileSync(join(entry.parentPath, entry.name), 'utf8') })),
)

interface Row {
  heading: string
  cells: string[]
}

/** The rows of every table of the document. */
function readRows(markdown: string): Row[] {
  const rows: Row[] = []
  let heading: string | null = null
  for (const line of markdown.split('\n')) {
    const cells = line.match(/^\| (.*) \|$/)?.[1]?.split(/(?<!\\) \| /)
    if (!line.startsWith('|')) heading = null
    else if (/^\|[-|]+\|$/.test(line)) continue
    else if (heading === null) heading = (cells ?? [line]).join(' | ')
    else rows.push({ heading, cells: cells ?? [line] })
  }
  return rows
}

/** The ids that a text names, with ranges expanded. */
function namedIn(text: string): string[] {
  return [...text.matchAll(NAMED)].flatMap(([whole, family, first = '', last]) => {
    if (family === undefined) return [whole]
    if (NO_FAMILIES.includes(family)) return []
    if (last === undefined) return [`${family}-${first}`]
    const from = Number.parseInt(first, 10)
    return Array.from({ length: Math.max(0, Number(last) - from) + 1 }, (_, index) => `${family}-${from + index}`)
  })
}

const rows = readRows(SPEC)
const requirements = readRows(CONTRIBUTING).filter(({ heading }) => heading === REQUIREMENTS)
const defined = [...rows, ...requirements].map(({ cells }) => cells[0] ?? '')
const rules = rows.filter(({ heading }) => heading === HEADINGS[0])
const repeated = (values: string[]): string[] => values.filter((value, index) => values.indexOf(value) !== index)

describe('docs/SPEC.md', () => {
  it('has tables of rules, invariants, promises and gaps only', () => {
    expect([...new Set(rows.map(({ heading }) => heading))].filter((heading) => !HEADINGS.includes(heading))).toEqual([])
    expect(rules.length).toBeGreaterThan(400)
  })

  it('has one row for each id, and one id for each row', () => {
    expect(defined.filter((id) => !ID.test(id))).toEqual([])
    expect(repeated(defined)).toEqual([])
    expect(defined.filter((id) => NO_FAMILIES.some((family) => id.startsWith(`${family}-`)))).toEqual([])
  })

  it('has each row below a heading whose line lists its family, and lists only families that have rows', () => {
    const sections = SPEC.split(/^## /m).filter((section) => section.includes(`| ${HEADINGS[0]} |`))
    expect(sections.length).toBeGreaterThan(30)
    for (const section of sections) {
      const [, line = ''] = /^Families: ([\s\S]*?)\.\n\n/m.exec(section) ?? []
      const families = [...section.matchAll(/^\| ([A-Z]+)-\d+[a-z]? \|/gm)].map(([, family = '']) => family)
      const listed = [...line.matchAll(/`([A-Z]+)`\s\(/g)].map(([, family = '']) => family)
      expect([...new Set(families)], section.split('\n', 1)[0]).toEqual(listed)
    }
  })

  it('states for each rule whether it was given or chosen, in a text of its own', () => {
    expect(
      rules.filter(({ cells }) => cells.length !== 3 || !/^(given|chosen)$/.test(cells[1] ?? '')).map(({ cells }) => cells[0]),
    ).toEqual([])
    expect(rules.filter(({ cells }) => !/\w/.test(cells[2] ?? '')).map(({ cells }) => cells[0])).toEqual([])
    expect(repeated(rules.map(({ cells }) => cells[2] ?? ''))).toEqual([])
  })

  it(`keeps the text of a row below ${MAX_TEXT} characters: further text is in the list below its table`, () => {
    const long = [...rules, ...requirements].filter(({ cells }) => (cells.at(-1) ?? '').length > MAX_TEXT)
    expect(long.map(({ cells }) => cells[0])).toEqual([])
  })

  it('states every rule that code, tests and documents name', () => {
    const named = new Set(sources.flatMap(({ text }) => namedIn(text)))
    expect([...named].filter((id) => !defined.includes(id))).toEqual([])
  })

  it('states only rules and requirements that a test names', () => {
    expect(requirements.length).toBeGreaterThan(10)
    const proven = new Set(sources.filter(({ folder }) => folder === 'test').flatMap(({ text }) => namedIn(text)))
    expect([...rules, ...requirements].map(({ cells }) => cells[0] ?? '').filter((id) => !proven.has(id))).toEqual([])
  })
})

describe('docs/adr', () => {
  it('has a number for each decision', () => {
    const numbers = DECISIONS.map((name) => name.slice(0, 4))
    expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([])
    for (const name of DECISIONS) expect(readFileSync(join(ROOT, 'docs/adr', name), 'utf8')).toContain(`# ${name.slice(0, 4)} `)
  })

  it('has every decision that a text refers to', () => {
    const referred = new Set(sources.flatMap(({ text }) => [...text.matchAll(/\badr\/(\d{4})/g)].map(([, number]) => number)))
    expect([...referred].filter((number) => !DECISIONS.some((name) => name.startsWith(`${number}-`)))).toEqual([])
  })
})
