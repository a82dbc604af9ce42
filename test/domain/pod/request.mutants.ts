import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'one GPU too many',
    file: 'src/domain/pod/request/compute.ts',
    find: 'count > type.maxCount',
    replace: 'count > type.maxCount + 1',
  },
]
