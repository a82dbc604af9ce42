import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a member reads what others did',
    file: 'src/services/accounts/audit-log.ts',
    find: "...(!hasScope(scopes, 'account:write') && { userId })",
    replace: '',
  },
]
