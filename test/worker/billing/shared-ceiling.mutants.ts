import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S2: each organization has its own ceiling',
    file: 'src/db/billing/spend.ts',
    find: '${isPast(IS_OF_PAYER, ceiling)}',
    replace: '${isPast(sql`team_id = ${teamId}`, ceiling)}',
  },
]
