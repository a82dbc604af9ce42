import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: "a host that claims another's address receives its packets",
    file: 'src/domain/overlay/ends.ts',
    find: 'if (holderId === undefined) return member',
    replace: "if (holderId !== '') return member",
  },
  {
    id: 'a later host takes over an address',
    file: 'src/domain/overlay/ends.ts',
    find: '? 1 : 2)',
    replace: '? 2 : 1)',
  },
]
