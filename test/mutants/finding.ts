import type { Mutant } from './table.ts'

type Project = 'unit' | 'agent' | 'worker'

/** Where a finding was: the test that bears its name has to fail. */
export function finding(id: string, what: string, [project, test]: readonly [Project, string], bug: Omit<Mutant, 'id' | 'tests'>): Mutant {
  return { id: `${id}: ${what}`, tests: ['--project', project, '--bail', '1', `test/${test}`, '-t', `\\[${id}\\]`], ...bug }
}
