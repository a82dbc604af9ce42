import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the plan of a stop names pods of others',
    file: 'src/db/billing/stops.ts',
    find: '.where(and(eq(pods.teamId, teamId), IS_LIVE))',
    replace: '.where(IS_LIVE)',
  },
]
