import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'two accounts share a host that does not isolate them',
    file: 'src/db/hosts/tenancy.ts',
    find: 'held.team_id <> ${teamId}',
    replace: 'held.team_id <> held.team_id AND ${teamId} IS NOT NULL',
  },
]
