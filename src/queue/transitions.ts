import { applyTime, endLease, type Job, LEASE_INTERVALS, type Loss, lossOf } from '../domain/job/job.ts'
import { launchBackoffMs } from '../domain/worker/scaling.ts'
import { silentAtMs, type Worker } from '../domain/worker/worker.ts'
import { applyJob, deleteJob, orderStop, peekJob } from './jobs.ts'
import type { QueueState } from './state.ts'
import type { Tx } from './tx.ts'
import { tellWorker } from './worker-rows.ts'

/**
 * What ends jobs and workers, in one place because each brings the other: a lease that time has ended costs its worker, and a worker that
 * ends takes its leases with it.
 */

/** Applies what time has done to a job, if anything. */
export function settleJob(tx: Tx, seq: number): void {
  const job = tx.state.jobs.bySeq(seq)
  if (!job) return
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

/** The job as it is now, after time. */
export function currentJob(tx: Tx, jobId: string): Job | null {
  const job = peekJob(tx.state, jobId)
  if (!job) return null
  settleJob(tx, job.seq)
  return peekJob(tx.state, jobId)
}

// LSE-9: this boot may not hold the job again, so a worker that lost one is replaced rather than starved of it. One that never had it is
// well: it makes room when nobody else is there for the job (PP-15).
function replaceLoser(tx: Tx, job: Job, reason: string): void {
  const worker = job.holder ? tx.state.workers.get(job.holder.workerId) : null
  if (worker?.phase !== 'READY') return
  if (isSilent(tx, worker)) failWorker(tx, worker, silenceReason(tx.state))
  else drainWorker(tx, worker, `lost job ${job.id}: ${reason}`)
}

/** LSE-7: silence for that long loses a worker. */
export function silenceLimitMs({ pingIntervalMs }: Pick<QueueState, 'pingIntervalMs'>): number {
  return LEASE_INTERVALS * pingIntervalMs
}

export function isSilent(tx: Tx, worker: Parameters<typeof silentAtMs>[0]): boolean {
  return tx.nowMs >= silentAtMs(worker, silenceLimitMs(tx.state))
}

export function silenceReason(state: QueueState): string {
  return `no ping for ${silenceLimitMs(state) / 1000} s`
}

/** What the end of a worker costs its jobs: by whether each has been confirmed. */
interface Losses {
  confirmed: Loss
  unconfirmed: Loss
}

/** It ended by itself, and perhaps because of what it was given, before any ping could tell (WRK-24). */
const CRASHED: Losses = { confirmed: 'retry', unconfirmed: 'retry' }
/** It went with its host or agent, or they ended it (LSE-20). */
export const HOST_LOST: Losses = { confirmed: 'host', unconfirmed: 'host' }
/** The same of one that was being stopped by the platform. */
export const HOST_LOST_DRAINING: Losses = { confirmed: 'host', unconfirmed: 'free' }
/** Nothing is known but that it is gone. */
export const LOST: Losses = { confirmed: 'retry', unconfirmed: 'unconfirmed' }
/** Stopped by the platform: an assignment that crossed the stop was never begun (WRK-29). */
export const STOPPED: Losses = { confirmed: 'retry', unconfirmed: 'free' }
/** The platform itself took the jobs back. */
const TAKEN_BACK: Losses = { confirmed: 'free', unconfirmed: 'free' }

/** Ends every lease of a worker (LSE-8, WRK-29). */
export function endLeases(tx: Tx, workerId: string, reason: string, losses: Losses): void {
  for (const { seq } of tx.state.jobs.heldBy(workerId)) {
    // What time has done to a job comes first: one whose own time is over does not run again because its worker ended too.
    settleJob(tx, seq)
    const job = tx.state.jobs.bySeq(seq)
    if (job?.state !== 'IN_PROGRESS') continue
    const loss = job.acked ? losses.confirmed : losses.unconfirmed
    const isExcused = losses === LOST && lossOf(job, loss) === 'host'
    applyJob(tx, job, endLease(job, isExcused ? job.leaseEndReason : reason, tx.nowMs, isExcused ? 'host' : loss))
  }
}

/** No more work for this worker; its container is stopped with a grace once it holds nothing (WRK-29). */
export function drainWorker(tx: Tx, { id }: Worker, reason: string): void {
  const before = tx.state.workers.get(id)
  if (!before || before.phase === 'DRAINING' || before.phase === 'FAILED') return
  tellWorker(tx, id, { kind: 'drain', reason })
  sendAway(tx, id)
}

/** A worker that was lost, with its host (`losses`) or alone, or reports itself unhealthy: its leases end and it is removed. */
export function failWorker(tx: Tx, worker: Worker, reason: string, losses: Losses = LOST): void {
  giveUpWorker(tx, worker, reason, losses)
}

/** A worker whose container ended by itself: what it held is the first suspect (PP-176). */
export function crashWorker(tx: Tx, worker: Worker, reason: string): void {
  giveUpWorker(tx, worker, reason, CRASHED)
}

function giveUpWorker(tx: Tx, { id, worked }: Worker, reason: string, losses: Losses): void {
  tellWorker(tx, id, { kind: 'fail', reason })
  endLeases(tx, id, reason, losses)
  if (!worked) backOff(tx)
  forgetOldFailures(tx, id)
  sendAway(tx, id)
}

// PP-176: only of starts that never took a job. One that did shows that the image starts; another is started at once.
function backOff({ state, nowMs }: Tx): void {
  const failures = state.meta.launch().failures + 1
  state.meta.setLaunch({ failures, notBeforeMs: nowMs + launchBackoffMs(failures) })
}

/** WRK-26: a worker that did not stop a job in time. Not a failure of its image, so no back-off, and its other jobs lose nothing. */
export function killWorker(tx: Tx, { id }: Worker, jobId: string): void {
  endLeases(tx, id, 'its worker was killed because it did not stop another job', TAKEN_BACK)
  tellWorker(tx, id, { kind: 'kill', reason: `did not stop job ${jobId} within the grace` })
  tx.effects.releasedTakes.add(id)
  tx.effects.scale = true
}

/** The platform ends a worker at once for a reason of its own: what it holds waits for another, and loses nothing. */
export function takeBackWorker(tx: Tx, { id, phase }: Worker, reason: string): void {
  endLeases(tx, id, reason, TAKEN_BACK)
  if (phase === 'FAILED') return
  tellWorker(tx, id, { kind: 'kill', reason })
  sendAway(tx, id)
}

/** Nothing of this worker is left on any host, so nothing holds its jobs either. A failed one stays readable for a while. */
export function forgetWorker(tx: Tx, { id }: Worker): void {
  endLeases(tx, id, 'its worker is gone', TAKEN_BACK)
  tellWorker(tx, id, { kind: 'released' })
}

function sendAway({ effects }: Tx, workerId: string): void {
  effects.releasedTakes.add(workerId)
  effects.stopPolls.add(workerId)
  effects.scale = true
}

// A crash loop must not fill the table: only the latest failure stays readable once its container is gone.
function forgetOldFailures({ state }: Tx, latestId: string): void {
  for (const worker of state.workers.all()) {
    if (worker.phase === 'FAILED' && worker.released && worker.id !== latestId) state.workers.remove(worker.id)
  }
}
