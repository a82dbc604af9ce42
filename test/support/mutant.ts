import { globSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A bug planted on purpose: `find` occurs exactly once in `file` and becomes `replace`. A table `x.mutants.ts` exports its bugs as
 * `MUTANTS`, and the test file `x.test.ts` beside it must fail for each of them.
 */
export interface Mutant {
  id: string
  file: string
  find: string
  replace: string
}

/** A bug, its table and the test file that must fail, all relative to the root of the project. */
export interface Planted extends Mutant {
  table: string
  test: string
}

/** All planted bugs of the tables below `root`/test. */
export async function plantedBugs(root: string): Promise<Planted[]> {
  const tables = globSync('test/**/*.mutants.ts', { cwd: root }).toSorted()
  const bugs = await Promise.all(
    tables.map(async (table) => {
      const { MUTANTS } = (await import(join(root, table))) as { MUTANTS: readonly Mutant[] }
      return MUTANTS.map((mutant) => ({ ...mutant, table, test: table.replace(/\.mutants\.ts$/, '.test.ts') }))
    }),
  )
  return bugs.flat()
}

/** The source with the bug in it. Throws unless its text occurs exactly once. */
export function withBug(source: string, { id, file, find, replace }: Mutant): string {
  const places = source.split(find).length - 1
  if (places !== 1) throw new Error(`"${id}": its text occurs ${places} times in ${file}, want 1`)
  return source.replace(find, () => replace)
}
