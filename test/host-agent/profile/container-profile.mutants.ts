import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'H9: a container has the capabilities of the engine',
    file: 'src/host-agent/profile/container-profile.ts',
    find: "CapDrop: ['ALL'],",
    replace: 'CapDrop: [],',
  },
]
