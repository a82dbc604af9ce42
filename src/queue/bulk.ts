import type { JobState } from '../contract/enums.ts'
import { isTerminal, type Job, refuseRetry } from '../domain/job/job.ts'
import { cancelJob, requeueJob } from './jobs.ts'
import { settleJob } from './transitions.ts'
import type { Tx } from './tx.ts'

/** What is done to many jobs (JL-30). */
export type BulkAction = 'cancel' | 'retry'

/** A job that a change has not changed, and why. */
export interface LeftJob {
  id: string
  /** As it is; null: deleted. */
  status: JobState | null
  reason: string
}

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

/** Why an action does not change jobs of a state that it cannot change; null: there is no such job (JL-41). */
export function refusalOf(action: BulkAction, state: JobState | null): string {
  if (state === null) return 'there is no such job'
  if (action === 'cancel') return 'it is over'
  return state === 'IN_QUEUE' || state === 'IN_PROGRESS' ? 'it is not over' : 'only jobs that failed or timed out can be retried'
}

/**
 * Does to some jobs what `/cancel` and `/retry` do to one, each as it is now: what has ended meanwhile is skipped. `isMeant`: whether a job is
 * still one of those that were asked for. Stops early when notifications take too much room for one commit.
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
    settleJob(tx, seq)
    const job = tx.state.jobs.bySeq(seq)
    if (!job || !mayChange(action, job) || !isMeant(job)) {
      counts.skipped += 1
      const status = job?.state ?? null
      const reason = job && mayChange(action, job) ? `it is ${job.state} now` : refusalOf(action, status)
      if (id !== undefined) left.push({ id, status, reason })
      continue
    }
    if (action === 'cancel') cancelJob(tx, job)
    else requeueJob(tx, job)
    counts.changed += 1
  }
  return { ...counts, left }
}
