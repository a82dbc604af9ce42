import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: "S1: a worker's key works for every route that accepts it",
    file: 'src/domain/access.ts',
    find: "'job-done', 'job-stream', 'ping']",
    replace: "'job-done', 'job-stream', 'ping', 'run']",
  },
]
