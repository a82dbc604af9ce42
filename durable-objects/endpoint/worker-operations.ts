import { type JobCall, MAX_RESULT_BYTES } from '../../src/contract/job-routes.ts'
import { finishJob, type Holder, type Job, judgePost, missPing, renewLease, sameHolder, showIdle } from '../../src/domain/job.ts'
import type { Worker } from '../../src/domain/worker.ts'
import { readChunk, readWorkerPost, type WorkerPost } from '../../src/domain/worker-post.ts'
import type { EndpointCore } from './core.ts'
import type { Effects } from './effects.ts'
import { MAX_CHUNK_BYTES, OUTPUT } from './payload-store.ts'
import { jsonReply, nothing, problemReply, readText } from './replies.ts'
import { applyJob, drainWorker, endLeases, failWorker, noteSuccess, orderStop } from './transitions.ts'

/** TMO-5. */
const HOLD_MS = 25_000
/** A draining worker is about to get its stop signal; a short hold keeps it from spinning until then (WRK-29). */
const DRAINING_HOLD_MS = 1_000
const MAX_BATCH = 1_000
/** Room for the JSON around a result of the largest size. */
const BODY_SLACK_BYTES = 64 * 1024

/** One call of the worker protocol; the worker's key has been checked. */
export async function workerOperation(core: EndpointCore, call: JobCall, request: Request): Promise<Response> {
  const from: Holder = { workerId: call.workerId, boot: call.query.get('boot') ?? '' }
  switch (call.operation) {
    case 'job-take':
      return take(core, call, from, 1, false, request.signal)
    case 'job-take-batch':
      return take(core, call, from, readBatchSize(call.query.get('batch_size')), true, request.signal)
    case 'job-stop':
      return stopPoll(core, from, request.signal)
    case 'job-done':
      return done(core, call.jobId, from, request)
    case 'job-stream':
      return chunk(core, call.jobId, from, request)
    case 'ping':
      return ping(core, call, from)
    default:
      return problemReply('pathNotFound', 'The requested path was not found.')
  }
}

function readBatchSize(text: string | null): number {
  const size = Number(text ?? 1)
  return Number.isInteger(size) && size > 0 ? Math.min(size, MAX_BATCH) : 1
}

/** The worker row of this boot, if it is one that may still work. */
function workerOf(core: EndpointCore, from: Holder): Worker | null {
  const worker = core.workers.get(from.workerId)
  return worker?.boot === from.boot ? worker : null
}

async function take(
  core: EndpointCore,
  call: JobCall,
  from: Holder,
  capacity: number,
  batch: boolean,
  signal: AbortSignal,
): Promise<Response> {
  let answer: (body: string | null) => void = () => undefined
  const answered = new Promise<string | null>((resolve) => {
    answer = resolve
  })
  const parked = { ...from, capacity, batch, parkedAtMs: core.now(), answer }
  const verdict = await core.transact((effects) => {
    const worker = workerOf(core, from)
    if (!worker || worker.phase === 'FAILED' || worker.phase === 'PLACING') return 'refused'
    if (worker.phase === 'DRAINING') return 'draining'
    const nowMs = core.now()
    if (call.query.get('job_in_progress') === '0') showIdleLeases(core, from)
    if (worker.phase === 'STARTING') becomeReady(core, worker, nowMs)
    else core.workers.seen(worker.id, nowMs)
    core.parking.parkTake(parked)
    effects.scale = true
    return 'parked'
  })
  // WRK-7: a fast error would be answered by a thousand takes a second; 429 is the worker's only back-off.
  if (verdict === 'refused') return problemReply('rateLimited', 'this worker is not part of the endpoint any more', { 'retry-after': '5' })
  const timer = setTimeout(() => answer(null), verdict === 'draining' ? DRAINING_HOLD_MS : HOLD_MS)
  const left = () => answer(null)
  signal.addEventListener('abort', left)
  const body = await answered
  clearTimeout(timer)
  signal.removeEventListener('abort', left)
  core.parking.dropTake(parked)
  return body === null ? nothing() : jsonReply(body)
}

function becomeReady(core: EndpointCore, worker: Worker, nowMs: number): void {
  core.workers.save({
    ...worker,
    phase: 'READY',
    lastSeenAtMs: nowMs,
    idleSinceMs: nowMs,
    startedAtMs: worker.startedAtMs ?? nowMs,
    reason: null,
  })
  // Earlier failures have been overcome; what is left of them would only mislead.
  for (const other of core.workers.all()) {
    if (other.phase === 'FAILED' && other.hostId === null) core.workers.remove(other.id)
  }
}

// LSE-3.
function showIdleLeases(core: EndpointCore, from: Holder): void {
  for (const job of core.jobs.heldBy(from.workerId)) {
    if (sameHolder(job.holder, from)) core.jobs.save(job, showIdle(job, core.now()))
  }
}

async function stopPoll(core: EndpointCore, from: Holder, signal: AbortSignal): Promise<Response> {
  const untilMs = core.now() + HOLD_MS
  for (;;) {
    const poll = await core.transact(() => {
      const worker = workerOf(core, from)
      const orders = core.workers.stops(from.workerId).filter((order) => !order.told)
      if (orders.length > 0) core.workers.markTold(from.workerId)
      const active = worker !== null && (worker.phase !== 'DRAINING' || core.jobs.heldBy(worker.id).length > 0)
      return { jobIds: orders.map((order) => order.jobId), active }
    })
    if (poll.jobIds.length > 0) return jsonReply(JSON.stringify({ jobsToStop: poll.jobIds }))
    const leftMs = Math.min(untilMs - core.now(), poll.active ? HOLD_MS : DRAINING_HOLD_MS)
    if (leftMs <= 0 || signal.aborted) return nothing()
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs)
      const wake = () => {
        clearTimeout(timer)
        core.parking.dropStopPoll(from.workerId, wake)
        resolve()
      }
      signal.addEventListener('abort', wake)
      core.parking.parkStopPoll(from.workerId, wake)
    })
    if (!poll.active) return nothing()
  }
}

/** `job-done`: a result or a progress update. Answers 200 whatever it decides, because a worker drops what is refused (WRK-18). */
async function done(core: EndpointCore, jobId: string, from: Holder, request: Request): Promise<Response> {
  const body = await readText(request, MAX_RESULT_BYTES + BODY_SLACK_BYTES)
  const post: WorkerPost = body === null ? tooLarge() : limitResult(readWorkerPost(body))
  await core.transact((effects) => {
    const job = core.currentJob(jobId, effects)
    const worker = workerOf(core, from)
    if (worker) core.workers.seen(worker.id, core.now())
    if (job) applyPost(core, job, from, post, effects)
    if (post.kind === 'result' && post.stopWorker && worker)
      drainWorker(core, worker, 'the worker asked to be stopped', core.now(), effects)
  })
  return jsonReply('{}')
}

function tooLarge(): WorkerPost {
  return { kind: 'result', output: undefined, error: `the result is larger than the limit of ${MAX_RESULT_BYTES} bytes`, stopWorker: false }
}

// INV-32: never COMPLETED without output because the output was too large. A text of n units has at least n bytes.
function limitResult(post: WorkerPost): WorkerPost {
  if (post.output === undefined || post.output.length <= MAX_RESULT_BYTES / 3) return post
  return new TextEncoder().encode(post.output).length > MAX_RESULT_BYTES ? tooLarge() : post
}

function applyPost(core: EndpointCore, job: Job, from: Holder, post: WorkerPost, effects: Effects): void {
  const verdict = judgePost(job, from, post.kind === 'result')
  const nowMs = core.now()
  if (verdict === 'superseded') core.meta.add('superseded')
  if (verdict !== 'accept' && verdict !== 'accept-late') return
  if (post.kind === 'progress') {
    core.payloads.put(job.seq, OUTPUT, post.output)
    core.jobs.save(job, renewLease(job, nowMs, core.leaseTimes))
    return
  }
  applyJob(core, job, finishJob(job, post.error === null ? 'COMPLETED' : 'FAILED', nowMs, post.error), effects)
  if (post.output === undefined) core.payloads.clear(job.seq, OUTPUT)
  else core.payloads.put(job.seq, OUTPUT, post.output)
  noteSuccess(core)
}

async function chunk(core: EndpointCore, jobId: string, from: Holder, request: Request): Promise<Response> {
  const body = await readText(request, MAX_CHUNK_BYTES)
  await core.transact((effects) => {
    const job = core.currentJob(jobId, effects)
    if (!job) return
    if (judgePost(job, from, false) !== 'accept') {
      core.meta.add('superseded')
      return
    }
    const kept = body !== null && core.payloads.appendChunk(job.seq, readChunk(body))
    if (kept) {
      core.jobs.save(job, renewLease(job, core.now(), core.leaseTimes))
      effects.changedJobs.add(job.seq)
      return
    }
    // Dropping a chunk silently would hand the client a stream with a hole in it.
    const reason = body === null ? `a stream chunk is larger than ${MAX_CHUNK_BYTES} bytes` : 'the stream holds too many undelivered chunks'
    applyJob(core, job, finishJob(job, 'FAILED', core.now(), reason), effects)
    orderStop(core, job, core.now(), effects)
  })
  return jsonReply('{}')
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
    if (job?.state !== 'IN_PROGRESS' || !sameHolder(job.holder, from)) continue
    if (listed.has(job.id)) core.jobs.save(job, renewLease(job, nowMs, core.leaseTimes))
    else if (!ignoreMissing) core.jobs.save(job, missPing(job, nowMs))
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
