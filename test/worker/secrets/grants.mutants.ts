import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S1: every writer of a row may name any secret in it',
    file: 'src/domain/resources/secret-grants.ts',
    find: 'const missing = mayGrant ? []',
    replace: 'const missing = mayGrant || userId ? []',
  },
  {
    id: 'S1: a reference that was not granted is filled in',
    file: 'src/effects/secret-env.ts',
    find: 'if (ungranted !== null) return',
    replace: 'if (ungranted === "") return',
  },
]
