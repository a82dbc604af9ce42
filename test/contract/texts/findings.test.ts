import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from '../../support/unit.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const TESTS = join(ROOT, 'test')
/** An id of the second round that no finding has. */
const NEVER_GIVEN = 'S3'
/** Start of the row of a finding that no test covers yet. */
const OPEN = /^open/

const paths = readdirSync(TESTS, { recursive: true })
  .map((path) => join(TESTS, String(path)))
  .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules', TESTS.length))
const tests = paths.map((path) => readFileSync(path, 'utf8')).join('\n')
const rows = readFileSync(join(ROOT, 'docs/SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| [CHMLS]\d+ \|/.test(line))
  .map((line) => {
    const [, id = '', attack = '', guard = '', test = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    return { id, attack, guard, test }
  })

const withoutEnding = (path: string) => path.replace(/(?:\.long)?(?:\.e2e)?\.test\.ts$/, '')
/** A title names a finding alone or among others: `[C1]`, `[C1 M6]`, `[AUT-21, C1]`. */
const isNamed = (id: string) => new RegExp(`\\[(?:[^\\]\\n]*[ ,])?${id}(?:[ ,][^\\]\\n]*)?\\]`).test(tests)

describe('the findings of docs/SECURITY.md', () => {
  it('are the ones that were found', () => {
    const all = [
      ['C', 3],
      ['H', 10],
      ['M', 11],
      ['L', 11],
      ['S', 19],
    ] as const
    const named = all.flatMap(([family, last]) => Array.from({ length: last }, (_, index) => `${family}${index + 1}`))
    expect(rows.map(({ id }) => id)).toEqual(named.filter((id) => id !== NEVER_GIVEN))
  })

  it.each(rows.filter(({ test }) => !OPEN.test(test)))('$id is covered by a test that has the id in its title', ({ id, guard, test }) => {
    expect(isNamed(id)).toBe(true)
    expect(guard).not.toBe('')
    const named = [...test.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, path = '']) => path)
    expect(named.filter((path) => !path.includes('*') && !paths.some((known) => known.endsWith(path)))).toEqual([])
  })

  it.each(rows)('$id names tests by folder and name that exist', ({ test }) => {
    const named = [...test.matchAll(/`([\w-]+(?:\/[\w-]+)+)`/g)].map(([, path = '']) => path)
    expect(named.filter((path) => !paths.some((known) => withoutEnding(known).endsWith(`/${path}`)))).toEqual([])
  })

  it('are called open only as long as no test title has their id', () => {
    expect(rows.filter(({ id, test }) => OPEN.test(test) && isNamed(id)).map(({ id }) => id)).toEqual([])
  })
})

describe('the OWASP table of docs/SECURITY.md', () => {
  const text = readFileSync(join(ROOT, 'docs/SECURITY.md'), 'utf8')
  const risks = text.split('\n').filter((line) => /^\| API\d+ /.test(line))

  it('has its ten rows, each with tests that exist', () => {
    expect(risks).toHaveLength(10)
    for (const row of risks) {
      const named = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
      expect(named.length, row).toBeGreaterThan(0)
      expect(
        named.filter((path) => !existsSync(join(ROOT, path))),
        row,
      ).toEqual([])
    }
  })
})
