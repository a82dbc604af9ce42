import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'L2: a key of small order proves an identity',
    file: 'src/domain/host/public-key.ts',
    find: 'return SMALL_ORDER.includes(hex) ?',
    replace: 'return SMALL_ORDER.includes(`0x${hex}`) ?',
  },
  {
    id: 'a key of small order with the sign of x set passes',
    file: 'src/domain/host/public-key.ts',
    find: '? byte & ~SIGN_BIT : byte',
    replace: '? byte : byte',
  },
]
