import { sameBut } from '../same-but.ts'
import { dueAtMs, isTerminal, type Job, SILENT_WORKER } from './job.ts'

/**
 * Renewals of leases that are kept in memory alone (LSE-24): the row of a job has its lease as it was when something else of the job changed
 * last. A queue that is loaded from its rows does not know what was heard meanwhile. Pure.
 */

const RENEWED: ReadonlySet<string> = new Set(['leaseUntilMs'])
const LOADED = 'the worker sent no ping after its queue was loaded anew'

/** Whether the holder has shown that it holds the job, and nothing else has changed: no row is written. */
export function isRenewal(before: Job, after: Job): boolean {
  const isLonger = (after.leaseUntilMs ?? 0) >= (before.leaseUntilMs ?? 0)
  return isLonger && after.state === 'IN_PROGRESS' && after.leaseEndReason === SILENT_WORKER && sameBut(before, after, RENEWED)
}

/** When a job is due by its row, which does not change while it runs: memory has all deadlines of running jobs. Milliseconds. */
export function dueInRowMs(job: Job): number {
  return isTerminal(job.state) ? dueAtMs(job) : job.ttlAtMs
}

/**
 * The job of a queue that was loaded anew: a lease that may have been renewed in memory gets a whole term, `untilMs`. It gets none again until
 * its holder has shown the job once more, or a queue that is loaded often would wait for ever for a worker that is gone.
 */
export function loadLease(job: Job, untilMs: number): Job {
  if (job.state !== 'IN_PROGRESS' || job.leaseEndReason !== SILENT_WORKER) return job
  return { ...job, leaseUntilMs: Math.max(job.leaseUntilMs ?? 0, untilMs), leaseEndReason: LOADED }
}
