import { sameBut } from '../same-but.ts'
import { dueAtMs, isEnded, type Job, type RunningJob } from './job.ts'
import { SILENT_WORKER } from './lease.ts'
import { removalAtMs } from './retention.ts'

/**
 * Lease renewals that are stored in memory alone (LSE-24): a job's row has the lease as of the last change of another field. A queue that
 * is loaded from its rows does not have later renewals. Pure.
 */

const RENEWED: ReadonlySet<string> = new Set(['leaseUntilMs'])
const LOADED = 'the worker sent no ping after its queue was reloaded'

/** Whether only the end of a lease that waits for pings moves: then no row is written. */
export function isRenewal(before: RunningJob, after: RunningJob): boolean {
  return after.leaseEndReason === SILENT_WORKER && sameBut(before, after, RENEWED)
}

/**
 * When a job is due by its row, milliseconds. It does not change while the job runs: the deadlines of running jobs are in memory. The row of
 * an ended job is removed with others (JOB-49).
 */
export function dueInRowMs(job: Job): number {
  return isEnded(job) ? removalAtMs(dueAtMs(job), job.retentionMs) : job.ttlAtMs
}

/**
 * A job of a queue that was loaded from its rows: a lease that may have been renewed in memory lasts until `untilMs`. It is not prolonged
 * again until its holder has shown the job once more; otherwise a queue that is loaded often would wait forever for a worker that is gone.
 */
export function loadLease(job: RunningJob, untilMs: number): RunningJob {
  if (job.leaseEndReason !== SILENT_WORKER) return job
  return { ...job, leaseUntilMs: Math.max(job.leaseUntilMs, untilMs), leaseEndReason: LOADED }
}
