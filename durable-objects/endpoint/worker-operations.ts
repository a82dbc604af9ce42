import type { JobCall } from '../../src/contract/job-routes.ts'
import { type Holder, isTerminal, missPing, renewLease, sameHolder } from '../../src/domain/job.ts'
import type { Worker } from '../../src/domain/worker.ts'
import type { EndpointCore } from './core.ts'
import type { Effects } from './effects.ts'
import { jsonReply, problemReply } from './replies.ts'
import { endLeases, failWorker, STOP_GRACE_MS } from './transitions.ts'
import { workerOf } from './worker-of.ts'
import { stopPoll, takeBatch, takeOne } from './worker-polls.ts'
import { postChunk, postResult } from './worker-posts.ts'

/** One call of the worker protocol; the worker's key has been checked. */
export async function workerOperation(core: EndpointCore, call: JobCall, request: Request): Promise<Response> {
  const from: Holder = { workerId: call.workerId, boot: call.query.get('boot') ?? '' }
  switch (call.operation) {
    case 'job-take':
      return takeOne(core, call, from, request.signal)
    case 'job-take-batch':
      return takeBatch(core, call, from, request.signal)
    case 'job-stop':
      return stopPoll(core, from, request.signal)
    case 'job-done':
      return postResult(core, call.jobId, from, request)
    case 'job-stream':
      return postChunk(core, call.jobId, from, request)
    case 'ping':
      return ping(core, call, from)
    default:
      return problemReply('pathNotFound', 'The requested path was not found.')
  }
}

async function ping(core: EndpointCore, call: JobCall, from: Holder): Promise<Response> {
  const listed = new Set((call.query.get('job_id') ?? '').split(',').filter((id) => id !== ''))
  await core.transact((effects) => {
    const worker = workerOf(core, from)
    if (!worker) return
    const nowMs = core.now()
    if (call.query.get('status') === 'unhealthy') {
      const reason = `${call.query.get('check') ?? 'check'}: ${call.query.get('reason') ?? 'unhealthy'}`.slice(0, 512)
      if (worker.phase !== 'FAILED') failWorker(core, worker, reason, nowMs, effects)
      return
    }
    core.workers.seen(worker.id, nowMs)
    renewLeases(core, from, listed, confusesWorkers(call.query.get('runpod_version')), effects)
    orderForgottenStops(core, from, listed, nowMs, effects)
    enforceStops(core, worker, listed, nowMs, effects)
  })
  return jsonReply('{}')
}

// WRK-21: these SDK versions could report another worker's jobs, so a missing id proves nothing.
function confusesWorkers(version: string | null): boolean {
  const [major, minor, patch] = (version ?? '').split('.').map(Number)
  if (major !== 1 || minor === undefined || patch === undefined) return false
  return (minor === 7 && patch >= 11) || minor === 8 || minor === 9 || (minor === 10 && patch === 0)
}

function renewLeases(core: EndpointCore, from: Holder, listed: Set<string>, ignoreMissing: boolean, effects: Effects): void {
  const nowMs = core.now()
  for (const held of core.jobs.heldBy(from.workerId)) {
    const job = core.currentJob(held.id, effects)
    if (job?.state !== 'IN_PROGRESS' || !sameHolder(job.holder, from)) continue
    if (listed.has(job.id)) core.jobs.save(job, renewLease(job, nowMs, core.leaseTimes))
    else if (!ignoreMissing) core.jobs.save(job, missPing(job, nowMs))
  }
}

/** LSE-12: says it again while a job is pinged that is over or runs elsewhere: a worker that had not begun it yet drops the first order. */
function orderForgottenStops(core: EndpointCore, from: Holder, listed: Set<string>, nowMs: number, effects: Effects): void {
  for (const id of listed) {
    const job = core.currentJob(id, effects)
    // LSE-11: while no newer attempt has begun, the result of the last holder is still welcome. A completed job was posted by it just now.
    if (job && sameHolder(job.holder, from) && (!isTerminal(job.state) || job.state === 'COMPLETED')) continue
    core.workers.orderStop(from.workerId, id, nowMs + STOP_GRACE_MS)
    effects.stopPolls.add(from.workerId)
  }
}

/** TMO-7, WRK-26: kills a worker that goes on with a stopped job, and forgets orders that were obeyed. */
function enforceStops(core: EndpointCore, worker: Worker, listed: Set<string>, nowMs: number, effects: Effects): void {
  for (const order of core.workers.stops(worker.id)) {
    if (order.told && !listed.has(order.jobId)) core.workers.forgetStop(worker.id, order.jobId)
    if (!listed.has(order.jobId) || nowMs < order.killAtMs) continue
    core.workers.forgetStop(worker.id, order.jobId)
    endLeases(core, worker.id, 'its worker was killed because it did not stop another job', nowMs, false, effects)
    core.workers.save({
      ...worker,
      phase: 'FAILED',
      reason: `did not stop job ${order.jobId} within the grace`,
      nextAttemptAtMs: nowMs,
      forgetAtMs: nowMs,
    })
    effects.releasedTakes.add(worker.id)
    effects.scale = true
    return
  }
}
