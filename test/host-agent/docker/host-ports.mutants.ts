import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'one account may take all ports of a host',
    file: 'src/host-agent/docker/ports/host-ports.ts',
    find: 'if (own > room) throw',
    replace: 'if (own < 0) throw',
  },
  {
    id: 'one host port for two workloads',
    file: 'src/host-agent/docker/ports/host-ports.ts',
    find: 'new Set([...refused, ...[...this.inUse.values()].flatMap(({ ports }) => ports)])',
    replace: 'new Set([...refused])',
  },
]
