import type { Mutant } from '../../../support/mutant.ts'

const FILE = 'durable-objects/endpoint/channel/calls.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a hello begins calls again that have just ended',
    file: FILE,
    find: ' && !this.calls.hasEnded(n)',
    replace: '',
  },
  {
    id: 'a stop poll that is left takes the orders',
    file: FILE,
    find: '      if (own.left) return { jobIds: [], woken: null }\n',
    replace: '',
  },
]
