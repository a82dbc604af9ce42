import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S9: a code that the plane never issued takes a row',
    file: 'src/domain/session/device-login.ts',
    find: 'if (code === random + checkLetters(random, minute, digest)) return',
    replace: "if (code !== '') return",
  },
]
