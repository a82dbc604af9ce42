import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a volume that a container has open is wiped',
    file: 'src/host-agent/volumes/exchange.ts',
    find: 'root !== undefined && isFree ?',
    replace: 'root !== undefined ?',
  },
]
