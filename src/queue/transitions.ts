import type { Job } from '../domain/job/job.ts'
import { applyTime, endLease, type Loss, lossOf } from '../domain/job/lease.ts'
import { launchBackoffMs } from '../domain/worker/scaling.ts'
import { silentAtMs, type Worker } from '../domain/worker/worker.ts'
import { applyJob, deleteJob, orderStop, peekJob } from './jobs.ts'
import type { QueueState } from './state.ts'
import type { Tx } from './tx.ts'
import { applyWorkerEvent, silenceLimitMs } from './worker-rows.ts'

/**
 * Ends of jobs and workers, in one module because each can cause the other: an expired lease may end its worker, and the end of a worker
 * ends its leases.
 */

/** Applies the deadlines of a job that have passed. False: no such job can be read. */
export function applyJobDeadlines(tx: Tx, seq: number): boolean {
  const job = tx.state.jobs.bySeq(seq)
  if (job) applyDue(tx, job)
  return job !== null
}

function applyDue(tx: Tx, job: Job): void {
  const due = applyTime(job, tx.nowMs)
  switch (due.kind) {
    case 'none':
      return
    case 'delete':
      deleteJob(tx, job)
      if (due.wasRunning) orderStop(tx, job)
      return
    case 'stop':
      applyJob(tx, job, due.job)
      orderStop(tx, job)
      return
    case 'lease-ended': {
      applyJob(tx, job, due.job)
      orderStop(tx, job)
      if (!due.takeLost) replaceLoser(tx, job, due.reason)
      return
    }
    default:
      due satisfies never
  }
}

/** A job by its id, after its deadlines are applied. */
export function currentJob(tx: Tx, jobId: string): Job | null {
  const job = peekJob(tx.state, jobId)
  if (!job) return null
  applyJobDeadlines(tx, job.seq)
  return peekJob(tx.state, jobId)
}

// LSE-9: this boot may not hold the job again, so a worker that lost a job is replaced rather than barred from it. A worker that never
// received the job is healthy and stays; it is replaced only when no other worker can take the job (LSE-32).
function replaceLoser(tx: Tx, job: Job, reason: string): void {
  const worker = job.holder ? tx.state.workers.get(job.holder.workerId) : null
  if (worker?.phase !== 'READY') return
  if (isSilent(tx, worker)) failWorker(tx, worker, silenceReason(tx.state))
  else drainWorker(tx, worker, `lost job ${job.id}: ${reason}`)
}

/** Whether a worker has been silent for the limit (LSE-7). */
export function isSilent(tx: Tx, worker: Parameters<typeof silentAtMs>[0]): boolean {
  return tx.nowMs >= silentAtMs(worker, silenceLimitMs(tx.state))
}

/** The reason that users read when a silent worker is given up. */
export function silenceReason(state: QueueState): string {
  return `no ping for ${silenceLimitMs(state) / 1000} s`
}

/** Effects of a worker's end on its jobs, by whether each was confirmed. */
interface Losses {
  confirmed: Loss
  unconfirmed: Loss
}

/** The worker ended by itself, perhaps because of a job that it had not pinged yet (WRK-24). */
const CRASHED: Losses = { confirmed: 'retry', unconfirmed: 'retry' }
/** The worker ended with its host or agent, or they ended it (LSE-20). */
export const HOST_LOST: Losses = { confirmed: 'host', unconfirmed: 'host' }
/** The same for a worker that the platform was stopping. */
export const HOST_LOST_DRAINING: Losses = { confirmed: 'host', unconfirmed: 'free' }
/** The worker is gone for an unknown reason. */
export const LOST: Losses = { confirmed: 'retry', unconfirmed: 'unconfirmed' }
/** The platform stopped the worker: an assignment sent at the same time was never begun (WRK-29). */
export const STOPPED: Losses = { confirmed: 'retry', unconfirmed: 'free' }
/** The platform itself took the jobs back. */
const TAKEN_BACK: Losses = { confirmed: 'free', unconfirmed: 'free' }

/** Ends every lease of a worker (LSE-8, WRK-29). */
export function endLeases(tx: Tx, workerId: string, reason: string, losses: Losses): void {
  for (const { seq } of tx.state.jobs.heldBy(workerId)) {
    // Deadlines of the job come first: an expired job does not run again because its worker ended too.
    applyJobDeadlines(tx, seq)
    const job = tx.state.jobs.bySeq(seq)
    if (job?.state !== 'IN_PROGRESS') continue
    const loss = job.acked ? losses.confirmed : losses.unconfirmed
    const isExcused = losses === LOST && lossOf(job, loss) === 'host'
    applyJob(tx, job, endLease(job, isExcused ? job.leaseEndReason : reason, tx.nowMs, isExcused ? 'host' : loss))
  }
}

/** Gives a worker no more work; its container is stopped with a grace once it holds none (WRK-29). */
export function drainWorker(tx: Tx, { id }: Worker, reason: string): void {
  const before = tx.state.workers.get(id)
  if (!before || before.phase === 'DRAINING' || before.phase === 'FAILED') return
  applyWorkerEvent(tx, id, { kind: 'drain', reason })
  sendAway(tx, id)
}

/** Ends a worker that was lost, with its host (`losses`) or alone, or that reports itself unhealthy: its leases end and it is removed. */
export function failWorker(tx: Tx, worker: Worker, reason: string, losses: Losses = LOST): void {
  giveUpWorker(tx, worker, reason, losses)
}

/** Ends a worker whose container ended by itself: its jobs are the likely cause (LSE-31). */
export function crashWorker(tx: Tx, worker: Worker, reason: string): void {
  giveUpWorker(tx, worker, reason, CRASHED)
}

function giveUpWorker(tx: Tx, { id, worked }: Worker, reason: string, losses: Losses): void {
  applyWorkerEvent(tx, id, { kind: 'fail', reason })
  endLeases(tx, id, reason, losses)
  if (!worked) backOff(tx)
  removeOldFailures(tx, id)
  sendAway(tx, id)
}

// LSE-31: only starts that never took a job count. A worker that took one shows that the image starts, so its replacement starts at once.
function backOff({ state, nowMs }: Tx): void {
  const failures = state.meta.launch().failures + 1
  state.meta.setLaunch({ failures, notBeforeMs: nowMs + launchBackoffMs(failures) })
}

/**
 * WRK-26: ends a worker that did not stop a job in time. Its image has not failed, so there is no backoff, and its other jobs lose no
 * attempt.
 */
export function killWorker(tx: Tx, { id }: Worker, jobId: string): void {
  endLeases(tx, id, 'its worker was stopped because it did not cancel another job', TAKEN_BACK)
  applyWorkerEvent(tx, id, { kind: 'kill', reason: `did not stop job ${jobId} within the grace` })
  tx.effects.releasedTakes.add(id)
  tx.effects.scale = true
}

/** The platform ends a worker at once for a reason of its own: its jobs wait for another worker and lose no attempt. */
export function takeBackWorker(tx: Tx, { id, phase }: Worker, reason: string): void {
  endLeases(tx, id, reason, TAKEN_BACK)
  if (phase === 'FAILED') return
  applyWorkerEvent(tx, id, { kind: 'kill', reason })
  sendAway(tx, id)
}

/** Records that a worker is removed from all hosts, which ends its leases too. A failed worker stays readable for a while. */
export function recordWorkerGone(tx: Tx, { id }: Worker): void {
  endLeases(tx, id, 'its worker ended', TAKEN_BACK)
  applyWorkerEvent(tx, id, { kind: 'released' })
}

function sendAway({ effects }: Tx, workerId: string): void {
  effects.releasedTakes.add(workerId)
  effects.stopPolls.add(workerId)
  effects.scale = true
}

// A crash loop must not fill the table: of the failed workers that are removed, only the latest stays readable.
function removeOldFailures({ state }: Tx, latestId: string): void {
  for (const worker of state.workers.all()) {
    if (worker.phase === 'FAILED' && worker.released && worker.id !== latestId) state.workers.remove(worker.id)
  }
}
