import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S2: each account stops what all have exceeded together',
    file: 'src/domain/billing/spend-watch.ts',
    find: 'bound.isShared ? newestFirst : newestFirst.filter(isOwn)',
    replace: 'newestFirst.filter(isOwn)',
  },
]
