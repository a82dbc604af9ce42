import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'silent workers stay ready',
    file: 'src/queue/deadlines.ts',
    find: 'if (isSilent(tx, worker)) failWorker(tx, worker, silenceReason(tx.state))\n  else if',
    replace: 'if',
  },
  {
    id: 'leases survive the end of the container',
    file: 'src/queue/transitions.ts',
    find: '  endLeases(tx, id, reason, losses)\n',
    replace: '',
  },
  {
    id: 'results are not fenced',
    file: 'src/queue/posts.ts',
    find: "if (isEnded(job) || (verdict !== 'accept' && verdict !== 'accept-late')) return",
    replace: 'if (isEnded(job)) return',
  },
  {
    id: 'a worker that does not stop is not killed',
    file: 'src/queue/pings.ts',
    find: '      killWorker(tx, worker, order.jobId)\n',
    replace: '',
  },
]
