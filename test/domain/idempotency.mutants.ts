import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a key covers every request',
    file: 'src/domain/idempotency.ts',
    find: "fingerprint ? 'repeat' : 'misuse'",
    replace: "fingerprint ? 'repeat' : 'repeat'",
  },
]
