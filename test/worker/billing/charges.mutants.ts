import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a worker is charged a second time',
    file: 'src/db/billing/charges.ts',
    find: '${allocations.chargedFromMs} IS NULL`, isNew)',
    replace: '${allocations.chargedFromMs} IS NULL`)',
  },
  {
    id: 'a worker is charged for the silence of its host',
    file: 'src/db/billing/charges.ts',
    find: 'fromMs)), fromMs)',
    replace: 'fromMs)), toMs)',
  },
]
