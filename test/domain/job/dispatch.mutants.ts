import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'one job that no worker may hold blocks all others',
    file: 'src/domain/job/dispatch.ts',
    find: 'if (best === -1) continue',
    replace: 'if (best === -1) break',
  },
  {
    id: 'a held job may go back to its boot',
    file: 'src/domain/job/dispatch.ts',
    find: '|| !mayHold(job, taker)',
    replace: '',
  },
  {
    id: 'batch exceeded',
    file: 'src/domain/job/dispatch.ts',
    find: 'if (gave >= taker.capacity',
    replace: 'if (gave > taker.capacity',
  },
]
