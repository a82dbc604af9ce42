import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a reloaded queue gives its leases no time',
    file: 'src/queue/loaded.ts',
    find: 'if (loaded !== job) jobs.save(job, loaded)',
    replace: '',
  },
]
