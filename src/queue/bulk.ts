import type { JobState } from '../contract/enums.ts'
import { canRetry, isEnded, type Job } from '../domain/job/job.ts'
import { cancelJob, requeueJob } from './jobs.ts'
import { applyJobDeadlines } from './transitions.ts'
import type { Tx } from './tx.ts'

/** Action on many jobs (JOB-44). */
export type BulkAction = 'cancel' | 'retry'

/** A job that an action left unchanged, and why. */
export interface LeftJob {
  id: string
  /** Present status; null: deleted. */
  status: JobState | null
  reason: string
}

/** Numbers of jobs that a bulk step read, changed, and skipped because their state did not allow the action. */
export interface BulkCounts {
  looked: number
  changed: number
  skipped: number
}

/** Whether an action would change a job. */
export function mayChange(action: BulkAction, job: Job): boolean {
  return action === 'cancel' ? !isEnded(job) : canRetry(job)
}

/** Why an action does not change a job in a state that does not allow it; null state: there is no such job (JOB-47). */
export function refusalOf(action: BulkAction, state: JobState | null): string {
  if (state === null) return 'there is no such job'
  if (action === 'cancel') return 'it is over'
  return state === 'IN_QUEUE' || state === 'IN_PROGRESS' ? 'it is not over' : 'only jobs that failed or timed out can be retried'
}

/**
 * Cancels or retries jobs as `/cancel` and `/retry` do, each by its present state: jobs that have ended meanwhile are skipped. `isMeant`:
 * whether a job still matches the selection. Stops early when the notifications fill one commit.
 */
export function bulkStep(
  tx: Tx,
  action: BulkAction,
  seqs: readonly number[],
  isMeant: (job: Job) => boolean = () => true,
): BulkCounts & { left: LeftJob[] } {
  const isEnough = tx.state.outbox.meter()
  const counts = { looked: 0, changed: 0, skipped: 0 }
  const left: LeftJob[] = []
  for (const seq of seqs) {
    if (isEnough()) break
    counts.looked += 1
    const id = tx.state.jobs.bySeq(seq)?.id
    applyJobDeadlines(tx, seq)
    const job = tx.state.jobs.bySeq(seq)
    if (!job || !mayChange(action, job) || !isMeant(job)) {
      counts.skipped += 1
      const status = job?.state ?? null
      const reason = job && mayChange(action, job) ? `it is ${job.state} now` : refusalOf(action, status)
      if (id !== undefined) left.push({ id, status, reason })
      continue
    }
    if (action === 'cancel') cancelJob(tx, job)
    else if (canRetry(job)) requeueJob(tx, job)
    counts.changed += 1
  }
  return { ...counts, left }
}
