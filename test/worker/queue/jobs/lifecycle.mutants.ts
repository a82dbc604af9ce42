import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a purge removes running jobs',
    file: 'src/queue/endpoint-life.ts',
    find: 'const jobs = tx.state.jobs.queued(PURGE_BATCH)',
    replace: 'const jobs = [...tx.state.jobs.queued(PURGE_BATCH), ...tx.state.jobs.running()]',
  },
  {
    id: 'a cancelled job continues on its worker',
    file: 'src/queue/jobs.ts',
    find: "if (job.state === 'IN_PROGRESS') orderStop(tx, job)",
    replace: '',
  },
]
