import { isTerminal, type Job, refuseRetry } from '../domain/job/job.ts'
import { cancelJob, requeueJob } from './jobs.ts'
import { settleJob } from './transitions.ts'
import type { Tx } from './tx.ts'

/** What is done to many jobs (JL-30). */
export type BulkAction = 'cancel' | 'retry'

/** What became of some jobs: those that were changed, and those that were not in a state for it any more. */
export interface BulkCounts {
  looked: number
  changed: number
  skipped: number
}

/** Whether an action would change a job. */
export function mayChange(action: BulkAction, job: Job): boolean {
  return action === 'cancel' ? !isTerminal(job.state) : refuseRetry(job) === null
}

/**
 * Does to some jobs what `/cancel` and `/retry` do to one, each as it is now: what has ended meanwhile is skipped. `isMeant`: whether a job is
 * still one of those that were asked for. Stops early when notifications take too much room for one commit.
 */
export function bulkStep(tx: Tx, action: BulkAction, seqs: readonly number[], isMeant: (job: Job) => boolean = () => true): BulkCounts {
  const isEnough = tx.state.outbox.meter()
  const counts = { looked: 0, changed: 0, skipped: 0 }
  for (const seq of seqs) {
    if (isEnough()) break
    counts.looked += 1
    settleJob(tx, seq)
    const job = tx.state.jobs.bySeq(seq)
    if (!job || !mayChange(action, job) || !isMeant(job)) {
      counts.skipped += 1
      continue
    }
    if (action === 'cancel') cancelJob(tx, job)
    else requeueJob(tx, job)
    counts.changed += 1
  }
  return counts
}
