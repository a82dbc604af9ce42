import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'H3: a credential is used for any image',
    file: 'src/services/resources/registries.ts',
    find: 'else if (found.host !== host) {',
    replace: "else if (found.host === '') {",
  },
]
