import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'all memory of a host is offered',
    file: 'src/host-agent/machine/inventory.ts',
    find: 'totalMb - reserved)',
    replace: 'totalMb)',
  },
]
