import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'M1: http ports are bound on public addresses',
    file: 'src/host-agent/network/published-address.ts',
    find: "if (type === 'http') return httpIp",
    replace: "if (type === '') return httpIp",
  },
]
