import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S1: the key of a pod starts its pod',
    file: 'src/domain/access.ts',
    find: 'return POD_KEY_ACTIONS.has(action) ?',
    replace: "return action !== '' || POD_KEY_ACTIONS.has(action) ?",
  },
]
