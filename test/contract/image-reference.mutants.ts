import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an image leads out of its folder',
    file: 'src/contract/image-reference.ts',
    find: "(?:\\\\.|_|__|-+)[a-z0-9]+)*'",
    replace: "(?:\\\\.|_|__|-+|/\\\\.\\\\./)[a-z0-9]+)*'",
  },
]
