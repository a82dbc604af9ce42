import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'H7: large bodies are read without a limit',
    file: 'src/http/middleware/in-flight-body.ts',
    find: 'if (used + bytes > bound) {',
    replace: 'if (used + bytes > bound * 1_000) {',
  },
]
