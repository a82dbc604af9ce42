import type { EndpointCore } from '../../durable-objects/endpoint/core.ts'
import { notifyEnd, notifyExpired } from '../../durable-objects/endpoint/effects/outbox.ts'
import { OUTPUT } from '../../durable-objects/endpoint/store/payload-store.ts'
import { applyTime, canRetry, endLease, finishJob, isTerminal, type Job, LEASE_INTERVALS } from '../domain/job/job.ts'
import { launchBackoffMs } from '../domain/worker/scaling.ts'
import { FAILED_VISIBLE_MS, silentAtMs, type Worker } from '../domain/worker/worker.ts'
import type { Effects } from './effects.ts'

/** Changes of jobs and workers as rows. Every function runs inside a transaction of the core. */

/** TMO-7: how long a stopped job may still be pinged before its worker is killed. */
const STOP_GRACE_MS = 30_000
/** Grace between the stop signal and the kill of a worker that ends in good order. */
export const DRAIN_GRACE_MS = 30_000

/** Writes a job's new state with everything that follows from it. `output` is the JSON text of the result, when the job ends with one. */
export function applyJob(core: EndpointCore, before: Job, after: Job, effects: Effects, output?: string): void {
  core.jobs.save(before, after)
  effects.changedJobs.add(after.seq)
  effects.scale = true
  if (before.state === 'IN_PROGRESS' && after.state !== 'IN_PROGRESS') markIdle(core, before)
  if (after.state === 'IN_QUEUE' && before.state !== 'IN_QUEUE') {
    // LSE-12: what the old attempt streamed or reported and nobody read is not part of the next attempt.
    core.payloads.clearAttempt(after.seq)
    if (before.state === 'IN_PROGRESS') core.meta.add('retried')
  }
  if (!isTerminal(before.state) && isTerminal(after.state)) {
    notifyEnd(core, after, output)
    // Only a job that can be retried needs its input again (CTL-2); a progress value is not a result.
    core.payloads.clearEnded(after.seq, canRetry(after.state))
    if (output !== undefined) core.payloads.insert(after.seq, OUTPUT, output)
    if (after.state === 'COMPLETED') core.meta.add('completed')
    if (after.state === 'FAILED') core.meta.add('failed')
  }
}

function markIdle(core: EndpointCore, job: Job): void {
  const workerId = job.holder?.workerId
  if (workerId && core.jobs.heldBy(workerId).length === 0) core.workers.setIdleSince(workerId, core.now())
}

/** Removes a job and all that belongs to it (TMO-1, TMO-3). */
function deleteJob(core: EndpointCore, job: Job, effects: Effects): void {
  notifyExpired(core, job)
  core.jobs.remove(job)
  core.payloads.clearJob(job.seq)
  effects.changedJobs.add(job.seq)
  effects.scale = true
  if (job.state === 'IN_PROGRESS') markIdle(core, job)
}

/** Tells the holder to stop a job that is terminal or deleted already (WRK-26). */
export function orderStop(core: EndpointCore, job: Job, nowMs: number, effects: Effects): void {
  if (!job.holder) return
  core.workers.orderStop(job.holder.workerId, job.id, nowMs + STOP_GRACE_MS)
  effects.stopPolls.add(job.holder.workerId)
}

/** Applies what time has done to a job, if anything. */
export function settleDueJob(core: EndpointCore, job: Job, nowMs: number, effects: Effects): void {
  const due = applyTime(job, nowMs)
  switch (due.kind) {
    case 'none':
      return
    case 'delete':
      deleteJob(core, job, effects)
      if (due.wasRunning) orderStop(core, job, nowMs, effects)
      return
    case 'stop':
      applyJob(core, job, due.job, effects)
      orderStop(core, job, nowMs, effects)
      return
    case 'lease-ended': {
      applyJob(core, job, due.job, effects)
      orderStop(core, job, nowMs, effects)
      replaceLoser(core, job, due.reason, nowMs, effects)
      return
    }
    default:
      due satisfies never
  }
}

// LSE-9: this boot may not hold the job again, so a worker that lost one is replaced rather than starved of it.
function replaceLoser(core: EndpointCore, job: Job, reason: string, nowMs: number, effects: Effects): void {
  const worker = job.holder ? core.workers.get(job.holder.workerId) : null
  if (worker?.phase !== 'READY') return
  if (isSilent(core, worker, nowMs)) failWorker(core, worker, silenceReason(core), nowMs, effects)
  else drainWorker(core, worker, `lost job ${job.id}: ${reason}`, nowMs, effects)
}

/** LSE-7: no ping for 4 × P. */
export function isSilent(core: EndpointCore, worker: Worker, nowMs: number): boolean {
  return nowMs >= silentAtMs(worker, silenceLimitMs(core))
}

export function silenceReason(core: EndpointCore): string {
  return `no ping for ${silenceLimitMs(core) / 1000} s`
}

function silenceLimitMs(core: EndpointCore): number {
  return LEASE_INTERVALS * core.settings.workerPingIntervalMs
}

/** Which lost leases count as retries: none when the platform itself took the jobs back, those that the worker had begun when it was draining. */
type Counted = boolean | 'acknowledged'

/** Ends every lease of a worker (LSE-8, WRK-29). */
export function endLeases(core: EndpointCore, workerId: string, reason: string, nowMs: number, counted: Counted, effects: Effects): void {
  for (const { seq } of core.jobs.heldBy(workerId)) {
    // What time has done to a job comes first: one whose own time is over does not run again because its worker ended too.
    core.settle(seq, effects)
    const job = core.jobs.bySeq(seq)
    if (job?.state !== 'IN_PROGRESS') continue
    applyJob(core, job, endLease(job, reason, nowMs, counted === 'acknowledged' ? job.acked : counted), effects)
  }
}

/** No more work for this worker; its container is stopped with a grace (WRK-29). */
export function drainWorker(core: EndpointCore, worker: Worker, reason: string, nowMs: number, effects: Effects): void {
  const now = core.workers.get(worker.id)
  if (!now || now.phase === 'DRAINING' || now.phase === 'FAILED') return
  core.workers.save({ ...now, phase: 'DRAINING', reason, nextAttemptAtMs: nowMs, attempts: 0 })
  effects.releasedTakes.add(worker.id)
  effects.stopPolls.add(worker.id)
  effects.scale = true
}

/** A worker that crashed, was lost or reports itself unhealthy: its leases end, it is removed, and starts are backed off. */
export function failWorker(core: EndpointCore, worker: Worker, reason: string, nowMs: number, effects: Effects): void {
  const forgetAtMs = nowMs + FAILED_VISIBLE_MS
  core.workers.save({ ...worker, phase: 'FAILED', reason, nextAttemptAtMs: nowMs, attempts: 0, forgetAtMs, released: false })
  endLeases(core, worker.id, reason, nowMs, true, effects)
  const failures = core.meta.launch().failures + 1
  core.meta.setLaunch({ failures, notBeforeMs: nowMs + launchBackoffMs(failures) })
  forgetOldFailures(core, worker.id)
  effects.releasedTakes.add(worker.id)
  effects.stopPolls.add(worker.id)
  effects.scale = true
}

// A crash loop must not fill the table: only the latest failure stays readable once its container is gone.
function forgetOldFailures(core: EndpointCore, latestId: string): void {
  for (const worker of core.workers.all()) {
    if (worker.phase === 'FAILED' && worker.released && worker.id !== latestId) core.workers.remove(worker.id)
  }
}

/** A job held by a worker that completed: the endpoint is not crash-looping. */
export function noteSuccess(core: EndpointCore): void {
  if (core.meta.launch().failures > 0) core.meta.setLaunch({ failures: 0, notBeforeMs: 0 })
}

/** CTL-1 and deletion of an endpoint: makes any live job terminal. */
export function cancelJob(core: EndpointCore, job: Job, nowMs: number, effects: Effects): Job {
  if (isTerminal(job.state)) return job
  const cancelled = finishJob(job, 'CANCELLED', nowMs)
  applyJob(core, job, cancelled, effects)
  if (job.state === 'IN_PROGRESS') orderStop(core, job, nowMs, effects)
  return cancelled
}
