import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a volume shrinks',
    file: 'src/domain/resources/network-volume.ts',
    find: 'sizeGb < volume.sizeGb',
    replace: 'sizeGb < 0',
  },
]
