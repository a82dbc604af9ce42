import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Mutant } from '../mutants/table.ts'

const ROOT = fileURLToPath(import.meta.resolve('../../'))
const FOLDER = join(ROOT, 'test/mutants')
/** Every table of every file, so that none is missed here. */
const MODULES = await Promise.all(readdirSync(FOLDER).map((name) => import(join(FOLDER, name)) as Promise<Record<string, unknown>>))
const TABLES = MODULES.flatMap((module) =>
  Object.entries(module).flatMap(([name, table]) => (name.endsWith('_MUTANTS') ? [table as Mutant[]] : [])),
)
// One table may be a part of another.
const ALL = [...new Set(TABLES.flat())]

test.each(ALL)('planted bug "$id" still has its place in the sources', ({ file, find }) => {
  expect(readFileSync(`${ROOT}${file}`, 'utf8').split(find)).toHaveLength(2)
})

test('planted bugs have names of their own', () => {
  expect(new Set(ALL.map((mutant) => mutant.id)).size).toBe(ALL.length)
})
