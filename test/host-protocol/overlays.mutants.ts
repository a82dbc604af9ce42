import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a key is accepted that wg refuses',
    file: 'src/host-protocol/overlays.ts',
    find: '{42}[AEIMQUYcgkosw048]=',
    replace: '{43}=',
  },
]
