import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'M9: a link receives data before its hello',
    file: 'durable-objects/host/links.ts',
    find: 'return stateOf(socket).greeted',
    replace: "return 'greeted' in stateOf(socket)",
  },
]
