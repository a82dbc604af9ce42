import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the newest post counts again',
    file: 'src/domain/job/delivery.ts',
    find: 'delivery.number <= last.number',
    replace: 'delivery.number < last.number',
  },
]
