import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a resource on a silent host costs its rate',
    file: 'src/domain/billing/spending.ts',
    find: 'silentSinceMs.has(one.workloadId) ?',
    replace: 'silentSinceMs.has("") ?',
  },
]
