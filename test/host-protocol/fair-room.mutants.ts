import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: "one account's share leaves nothing to the next",
    file: 'src/host-protocol/fair-room.ts',
    find: '(total - othersTake) / 2',
    replace: 'total - othersTake',
  },
]
