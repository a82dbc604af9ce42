import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from '../../support/unit.ts'
import { NO_PLAN, PROBES, readSurfaces, withoutPlan } from './probes.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const DOCUMENTS = [
  'README.md',
  'SECURITY.md',
  'docs/ARCHITECTURE.md',
  ...globSync('docs/architecture/*.md', { cwd: ROOT }).toSorted(),
  'docs/MIGRATION.md',
  'docs/clients.md',
  'docs/console.md',
  'docs/deploy.md',
  'docs/guide.md',
  'docs/volumes.md',
]
/** The head of a table of gaps. */
const HEADING = /^\| Works \| Not yet \|/m
/** Words with which a document says that a feature is missing. */
const MISSING = /\bnot (yet )?(supported|implemented|available)\b|\bdo(es)? not support\b|\bno(t)? [^.|]{0,40}\byet\b|`not supported`/i

const surfaces = readSurfaces(ROOT)
const gaps = [...read('docs/SPEC.md').matchAll(/^\| (GAP-\d+) \|/gm)].map(([, id = '']) => id)
const probes = Object.entries(PROBES).map(([id, probe]) => ({ id, probe }))
const namedIn = (text: string) => [...text.matchAll(/GAP-\d+/g)].map(([id]) => id)

describe('the table of gaps in docs/SPEC.md', () => {
  it('has a probe for each row, and a row for each probe', () => {
    expect(gaps).toEqual(probes.map(({ id }) => id))
  })

  it.each(probes)('$id is still missing', ({ probe }) => {
    expect(probe.find(surfaces)).toEqual([])
  })

  it.each(probes)('the probe of $id finds the feature once it exists', ({ probe }) => {
    const planted = structuredClone(surfaces)
    probe.plant(planted)
    expect(probe.find(planted)).not.toEqual([])
  })

  it('lists every operation that changes something and has no dry run', () => {
    expect(withoutPlan(surfaces).toSorted()).toEqual(Object.values(NO_PLAN).flat().toSorted())
  })
})

describe('documents that say that a feature is missing', () => {
  it.each(DOCUMENTS)('%s names the gap, and only gaps that exist', (document) => {
    const paragraphs = read(document).split(/\n\n|\n(?=[-|] )|\n(?=- )/)
    expect(paragraphs.filter((text) => MISSING.test(text) && namedIn(text).length === 0 && !HEADING.test(text))).toEqual([])
    expect(namedIn(read(document)).filter((id) => !gaps.includes(id))).toEqual([])
  })

  it('README.md has an id in each cell of its column of gaps', () => {
    const [, table = ''] = /\| Works \| Not yet \|\n(.*?)\n\n/s.exec(read('README.md')) ?? []
    const cells = [...table.matchAll(/^\| .* \| (.*) \|$/gm)].map(([, cell = '']) => cell.trim())
    expect(cells.length).toBeGreaterThan(5)
    expect(cells.filter((cell) => cell !== '' && namedIn(cell).length === 0)).toEqual([])
  })
})
