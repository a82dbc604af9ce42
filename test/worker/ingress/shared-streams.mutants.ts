import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S16: one account may open every stream to a machine',
    file: 'src/host-protocol/tunnel/windows.ts',
    find: 'return own.streams < fairCount(',
    replace: 'return own.streams < MAX_STREAMS || own.streams < fairCount(',
  },
]
