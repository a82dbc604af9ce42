import type { JobCall } from '../../../src/contract/job-routes.ts'
import { type Holder, missPing, renewLease } from '../../../src/domain/job/job.ts'
import type { Worker } from '../../../src/domain/worker/worker.ts'
import { DELIVERY_HEADER, parseDelivery } from '../../../src/host-protocol/delivery.ts'
import type { Effects } from '../../../src/queue/effects.ts'
import { endLeases, failWorker } from '../../../src/queue/transitions.ts'
import type { EndpointCore } from '../core.ts'
import { jsonReply, problemReply } from '../replies.ts'
import { workerOf } from '../worker-of.ts'
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
      return postResult(core, call.jobId, { ...from, delivery: deliveryOf(request) }, request)
    case 'job-stream':
      return postChunk(core, call.jobId, { ...from, delivery: deliveryOf(request) }, request)
    case 'ping':
      return ping(core, call, from)
    default:
      return problemReply('pathNotFound', 'The requested path was not found.')
  }
}

function deliveryOf(request: Request) {
  return parseDelivery(request.headers.get(DELIVERY_HEADER))
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
    if (job?.state !== 'IN_PROGRESS') continue
    if (listed.has(job.id)) core.jobs.save(job, renewLease(job, nowMs, core.leaseTimes))
    else if (!ignoreMissing) {
      core.jobs.save(job, missPing(job, nowMs))
      core.settle(job.seq, effects)
    }
  }
}

/**
 * Stop orders against what the worker still pings (WRK-26, LSE-12). An order lives until its kill time: a worker that had not begun the job
 * yet drops the first order, so it is said again while the job is pinged; after the grace (TMO-7) the worker is killed.
 */
function enforceStops(core: EndpointCore, worker: Worker, listed: Set<string>, nowMs: number, effects: Effects): void {
  for (const order of core.workers.stops(worker.id)) {
    const overdue = nowMs >= order.killAtMs
    if (overdue) core.workers.forgetStop(worker.id, order.jobId)
    if (!listed.has(order.jobId)) continue
    if (overdue) {
      killWorker(core, worker, order.jobId, nowMs, effects)
      return
    }
    if (!order.told) continue
    core.workers.sayAgain(worker.id, order.jobId)
    effects.stopPolls.add(worker.id)
  }
}

// Not a failure of the worker's image, so no back-off: its jobs are taken back uncounted and it ends without grace.
function killWorker(core: EndpointCore, worker: Worker, jobId: string, nowMs: number, effects: Effects): void {
  endLeases(core, worker.id, 'its worker was killed because it did not stop another job', nowMs, false, effects)
  const reason = `did not stop job ${jobId} within the grace`
  core.workers.save({ ...worker, phase: 'FAILED', reason, nextAttemptAtMs: nowMs, forgetAtMs: nowMs })
  effects.releasedTakes.add(worker.id)
  effects.scale = true
}
