import type { Mutant } from './table.ts'

type Project = 'unit' | 'agent' | 'worker'

/** The place of a finding: the tests with its id in their title must fail. */
export function finding(id: string, what: string, [project, test]: readonly [Project, string], bug: Omit<Mutant, 'id' | 'tests'>): Mutant {
  return { id: `${id}: ${what}`, tests: ['--project', project, '--bail', '1', `test/${test}`, '-t', `\\[${id}\\]`], ...bug }
}
