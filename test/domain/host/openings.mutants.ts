import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'PLACE-1: the classes of one rank are read one after another',
    file: 'src/effects/placement/openings-in-order.ts',
    find: 'heads.toSorted((a, b) => compareOpenings(strategy, a.opening, b.opening))',
    replace: 'heads',
  },
  {
    id: 'PLACE-1: a minimum per GPU is rounded up, above the share that a host grants',
    file: 'src/domain/pod/place/placement.ts',
    find: 'Math.max(1, Math.floor((perGpu ?? 0) * unit * count))',
    replace: 'Math.max(1, Math.ceil((perGpu ?? 0) * unit * count))',
  },
]
