import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'L1: calls of one team warm the ids of another',
    file: 'src/objects/ownership/own-queue.ts',
    find: '=> `${teamId}/${endpointId}`',
    replace: '=> `${teamId.slice(0, 0)}/${endpointId}`',
  },
]
