import { parseJobSeq } from '../domain/job/id.ts'
import { type EndedJob, finishJob, isEnded, type Job, type RunningJob, retryJob } from '../domain/job/job.ts'
import { notificationTexts } from '../domain/job/record.ts'
import { recallStanding } from './standing.ts'
import { INPUT, type QueueState } from './state.ts'
import type { Tx } from './tx.ts'
import { applyWorkerEvent } from './worker-rows.ts'

/** Changes of jobs, each with all its consequences. */

/** TMO-7: time during which a stopped job may still be pinged before its worker is killed. */
const STOP_GRACE_MS = 30_000

/** A job by its id, as stored; deadlines that have passed since are not applied. Throws if its row is corrupted (JOB-24). */
export function peekJob(state: Pick<QueueState, 'jobs' | 'meta'>, jobId: string): Job | null {
  const seq = parseJobSeq(jobId, state.meta.idMask())
  const job = seq === null ? null : state.jobs.bySeqOrThrow(seq)
  return job?.id === jobId ? job : null
}

/** Writes a job's new state. `output` is the JSON text of the result, when the job ends with one. */
export function applyJob(tx: Tx, before: Job, after: Job, output?: string): void {
  const { jobs, payloads, meta } = tx.state
  const isOver = !isEnded(before) && isEnded(after)
  // The notification reads the input, which the end removes.
  if (isOver) notifyEnd(tx, after, output)
  if (isOver) jobs.end(before, after, output)
  else jobs.save(before, after)
  tx.effects.changedJobs.add(after.seq)
  tx.effects.scale = true
  if (before.state === 'IN_PROGRESS' && after.state !== 'IN_PROGRESS') markIdle(tx, before)
  if (after.state === 'IN_QUEUE' && before.state !== 'IN_QUEUE') {
    rememberAttempt(tx, before, after)
    // LSE-12: undelivered chunks and progress of the old attempt do not belong to the next one.
    payloads.clearAttempt(after.seq)
    meta.add('retried')
  }
  if (isOver && after.state === 'COMPLETED') meta.add('completed', 1, tx.nowMs)
  if (isOver && after.state === 'FAILED') meta.add('failed', 1, tx.nowMs)
}

// JOB-43: the row of a job holds its last attempt only.
function rememberAttempt({ state, nowMs }: Tx, before: RunningJob | EndedJob, after: Job): void {
  const { seq, attempt, holder, startedAtMs } = before
  if (holder === null || startedAtMs === null) return
  const isLost = before.state === 'IN_PROGRESS'
  state.attempts.add(seq, {
    attempt,
    workerId: holder.workerId,
    startedAtMs,
    endedAtMs: isLost ? nowMs : (before.lostAtMs ?? before.finishedAtMs),
    outcome: isLost ? 'LOST' : before.state === 'TIMED_OUT' ? 'TIMED_OUT' : 'FAILED',
    reason: isLost ? after.errorDetail : (before.errorDetail ?? before.error),
    requeuedAtMs: nowMs,
  })
}

function markIdle(tx: Tx, job: RunningJob): void {
  const { workerId } = job.holder
  const { jobs, takes } = tx.state
  if (jobs.heldBy(workerId).length === 0) applyWorkerEvent(tx, workerId, { kind: 'idle', polls: takes.isPolling(workerId) })
}

/** Removes a job and all its data (TMO-1, TMO-3). */
export function deleteJob(tx: Tx, job: Job): void {
  if (!isEnded(job)) notifyOfExpiry(tx, finishJob(job, 'TIMED_OUT', tx.nowMs))
  tx.state.jobs.remove(job)
  tx.state.payloads.clearJob(job.seq)
  if (job.attempt > 0) tx.state.attempts.clear(job.seq)
  tx.effects.changedJobs.add(job.seq)
  tx.effects.scale = true
  if (job.state === 'IN_PROGRESS') markIdle(tx, job)
}

/** JOB-24: removes a job whose row cannot be read, with all its data. */
export function deleteCorrupted({ state }: Tx, seq: number): void {
  state.jobs.removeRow(seq)
  state.payloads.clearJob(seq)
  state.attempts.clear(seq)
}

// JOB-9: a live job that its ttl deletes is notified once more, before its payloads are removed.
function notifyOfExpiry(tx: Tx, expired: EndedJob): void {
  notifyEnd(tx, expired)
  tx.effects.expiredJobs.set(expired.seq, expired)
}

/** Writes the notification of a finished job, while its input is still stored (HOOK-3). */
function notifyEnd(tx: Tx, job: EndedJob, output?: string): void {
  if (job.webhook === null) return
  const input = tx.state.payloads.get(job.seq, INPUT) ?? '{}'
  tx.state.outbox.add(job, job.webhook, notificationTexts(job, job.webhook, input, output))
}

/** Orders the holder to stop a job that is terminal or deleted already (WRK-26). */
export function orderStop(tx: Tx, job: Job): void {
  if (!job.holder) return
  tx.state.workers.orderStop(job.holder.workerId, job.id, tx.nowMs + STOP_GRACE_MS)
  tx.effects.stopPolls.add(job.holder.workerId)
  recallStanding(tx, [job.holder.workerId])
}

/** CTL-1, and deletion of an endpoint: cancels a live job; a terminal job stays as it is. */
export function cancelJob(tx: Tx, job: Job): Job {
  if (isEnded(job)) return job
  const cancelled = finishJob(job, 'CANCELLED', tx.nowMs)
  applyJob(tx, job, cancelled)
  if (job.state === 'IN_PROGRESS') orderStop(tx, job)
  return cancelled
}

/** CTL-2: returns a job that may be retried to the end of the queue. */
export function requeueJob(tx: Tx, job: EndedJob): void {
  applyJob(tx, job, retryJob(job, tx.state.jobs.nextSequence()))
}
