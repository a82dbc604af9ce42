import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the silence of a host counts from its last stop',
    file: 'src/host-agent/plane/lease.ts',
    find: 'this.sinceMs + silenceMs - performance.now()',
    replace: 'silenceMs',
  },
]
