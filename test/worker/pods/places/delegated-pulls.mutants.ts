import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: "S8: a delegation outlives its creator's membership",
    file: 'src/domain/resources/delegation.ts',
    find: "if (role === null || joinedAtMs === null) return 'the user who delegated is no longer a member of the account'",
    replace: 'if (role === null || joinedAtMs === null) return null',
  },
  {
    id: 'S8: trust given for one account serves all of a user',
    file: 'src/effects/ecr/session-name.ts',
    find: 'const name = `${teamId}-${userId}`',
    replace: 'const name = `account-${userId}`',
  },
]
