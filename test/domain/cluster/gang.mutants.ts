import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'several hosts off the network',
    file: 'src/domain/cluster/gang.ts',
    find: "const routed = rooms.filter(({ host }) => host.overlay === 'routed')",
    replace: 'const routed = rooms',
  },
  {
    id: 'hosts without private networks',
    file: 'src/domain/cluster/gang.ts',
    find: "overlay !== undefined && overlay !== 'none'",
    replace: 'overlay !== null',
  },
  {
    id: 'each member is granted what its host has',
    file: 'src/domain/cluster/gang.ts',
    find: 'vcpus: Math.min(',
    replace: 'vcpus: Math.max(',
  },
]
