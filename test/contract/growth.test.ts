import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BUDGET_NAMES } from '../../src/contract/accounts/budgets.ts'
import { splitStatements } from '../../src/local/plane/migrations.ts'
import { D1, OBJECTS } from '../support/cost/table-bounds.ts'
import { describe, expect, it } from '../support/unit.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SPEC = readFileSync(join(ROOT, 'docs/SPEC.md'), 'utf8')

function tablesOfD1(): string[] {
  const database = new DatabaseSync(':memory:')
  for (const file of readdirSync(join(ROOT, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .toSorted())
    for (const statement of splitStatements(readFileSync(join(ROOT, 'migrations', file), 'utf8'))) database.exec(statement)
  const rows = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").all()
  database.close()
  return rows.map(({ name }) => String(name))
}

function tablesOfObjects(): Record<string, string[]> {
  const folder = join(ROOT, 'durable-objects')
  const tables: Record<string, string[]> = {}
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!entry.endsWith('.ts')) continue
    const place = entry.split('/')[0] ?? ''
    const source = readFileSync(join(folder, entry), 'utf8')
    const renamed = new Map([...source.matchAll(/ALTER TABLE (\w+) RENAME TO (\w+)/g)].map(([, from = '', to = '']) => [from, to]))
    for (const [, name = ''] of source.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g))
      tables[place] = [...(tables[place] ?? []), renamed.get(name) ?? name]
  }
  return Object.fromEntries(Object.entries(tables).map(([place, names]) => [place, names.toSorted()]))
}

const sortedKeys = (record: object) => Object.keys(record).toSorted()
const bounds = [D1, ...Object.values(OBJECTS)].flatMap((tables) => Object.entries(tables))

describe('[DEV-7] every table', () => {
  it('of D1 has its bound named', () => {
    expect(sortedKeys(D1)).toEqual(tablesOfD1())
  })

  it('of a Durable Object has, too', () => {
    expect(Object.fromEntries(Object.entries(OBJECTS).map(([place, tables]) => [place, sortedKeys(tables)]))).toEqual(tablesOfObjects())
  })

  it.each(bounds)('%s: the named bound exists', (_table, bound) => {
    if ('removed' in bound) expect(readFileSync(join(ROOT, bound.removed), 'utf8')).toContain(bound.by)
    if ('rule' in bound && bound.rule !== undefined) expect(SPEC).toContain(`| ${bound.rule} |`)
    if ('budget' in bound) expect(BUDGET_NAMES).toContain(bound.budget)
  })
})
