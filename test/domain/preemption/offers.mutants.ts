import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an idle worker below min gives way',
    file: 'src/domain/preemption/offers.ts',
    find: 'placed - needed',
    replace: 'placed',
  },
]
