import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'everyone may accept an invitation',
    file: 'src/db/organizations/invitations.ts',
    find: 'return sql`${invitations.email} = (SELECT',
    replace: 'return sql`1 OR ${invitations.email} = (SELECT',
  },
]
