import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'silence does not end a ready worker',
    file: 'src/domain/worker/worker.ts',
    find: 'Math.min(silentAtMs(worker, lostAfterMs), polls',
    replace: 'Math.min(Number.POSITIVE_INFINITY, polls',
  },
]
