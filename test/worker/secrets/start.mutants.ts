import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'L8: a plane runs without its secrets',
    file: 'src/platform/seal.ts',
    find: "if (typeof value === 'string' && value.length >= MIN_SECRET_LENGTH) return",
    replace: "if (value !== 'never') return",
  },
]
