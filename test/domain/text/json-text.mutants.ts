import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'escaped quotes end strings',
    file: 'src/domain/text/json-text.ts',
    find: 'if (backslashes % 2 === 0) return i',
    replace: 'return i',
  },
]
