import type { JobCall } from '../../src/contract/job-routes.ts'
import { canRetry, type Job, retryJob, submitJob } from '../../src/domain/job.ts'
import { formatJobId } from '../../src/domain/job-id.ts'
import { readSubmission, type Submission } from '../../src/domain/submit.ts'
import { readHoldMs } from '../../src/domain/wait.ts'
import { health, holdForRecord, recordJson, SYNC_WAIT_MS, status, stream, timedOutRecord } from './client-reads.ts'
import type { EndpointCore } from './core.ts'
import { INPUT } from './payload-store.ts'
import { endpointNotFound, jobNotFound, jsonReply, problemReply, readText } from './replies.ts'
import { applyJob, cancelJob } from './transitions.ts'

const RUN_RETENTION_MS = 30 * 60_000
const RUNSYNC_RETENTION_MS = 60_000
const RUNSYNC_MAX_RETENTION_MS = 5 * 60_000
/** RUN-7: a queue is full when it is longer than both. */
const QUEUE_FLOOR = 50
const QUEUE_PER_WORKER = 500
const PURGE_BATCH = 1_000
const PURGE_ANSWER_MS = 1_500

/** One call of the client job API on an endpoint that exists and is the caller's. */
export async function clientOperation(core: EndpointCore, call: JobCall, request: Request): Promise<Response> {
  switch (call.operation) {
    case 'run':
    case 'runsync':
      return submit(core, call, request)
    case 'status':
      return status(core, call)
    case 'status-sync':
      return holdForRecord(core, call, request, (job) => (job ? null : jobNotFound()))
    case 'stream':
      return stream(core, call, request)
    case 'cancel':
      return cancel(core, call)
    case 'retry':
      return retry(core, call)
    case 'purge-queue':
      return purge(core)
    case 'health':
      return health(core)
    default:
      return problemReply('pathNotFound', 'The requested path was not found.')
  }
}

async function submit(core: EndpointCore, call: JobCall, request: Request): Promise<Response> {
  const limit = call.route.maxBodyBytes ?? 0
  const text = await readText(request, limit)
  if (text === null) return problemReply('payloadTooLarge', `request body exceeds ${limit} bytes`)
  const read = readSubmission(text, call.query.get('ttl'))
  if (!read.ok) return problemReply('badRequest', read.detail)
  const sync = call.operation === 'runsync'
  const waitMs = readHoldMs(call.query.get('wait'), SYNC_WAIT_MS)
  const job = await core.transact((effects) => {
    const config = core.config()
    if (!config) return 'gone'
    const queued = core.jobs.queuedNormal + core.jobs.queuedLow
    if (queued > QUEUE_FLOOR && queued > config.workers.max * QUEUE_PER_WORKER) return 'full'
    const created = newJob(core, read.submission, sync, call.query.has('wait') ? waitMs : 0, config.timeoutMs)
    core.jobs.insert(created)
    core.payloads.insert(created.seq, INPUT, read.submission.input)
    effects.scale = true
    return created
  })
  if (job === 'gone') return endpointNotFound()
  if (job === 'full')
    return problemReply('rateLimited', 'the queue of this endpoint is full; retry later or raise workers.max', { 'retry-after': '5' })
  if (!sync) return jsonReply(`{"id":"${job.id}","status":"IN_QUEUE"}`)
  return holdForRecord(core, { ...call, jobId: job.id }, request, () => jsonReply(timedOutRecord(core, job)))
}

function newJob(core: EndpointCore, submission: Submission, sync: boolean, waitMs: number, timeoutMs: number): Job {
  const nowMs = core.now()
  const seq = core.jobs.nextSequence()
  return submitJob({
    seq,
    id: formatJobId(seq, sync, core.meta.idMask(), crypto.getRandomValues(new Uint8Array(10))),
    lowPriority: submission.lowPriority,
    createdAtMs: nowMs,
    ttlAtMs: nowMs + submission.ttlMs,
    executionTimeoutMs: submission.executionTimeoutMs ?? timeoutMs,
    retentionMs: sync ? Math.min(RUNSYNC_MAX_RETENTION_MS, Math.max(RUNSYNC_RETENTION_MS, waitMs)) : RUN_RETENTION_MS,
  })
}

async function cancel(core: EndpointCore, call: JobCall): Promise<Response> {
  const job = await core.transact((effects) => {
    const current = core.currentJob(call.jobId, effects)
    return current ? cancelJob(core, current, core.now(), effects) : null
  })
  return job ? jsonReply(recordJson(core, job)) : jobNotFound()
}

async function retry(core: EndpointCore, call: JobCall): Promise<Response> {
  const job = await core.transact((effects) => {
    const current = core.currentJob(call.jobId, effects)
    if (current && canRetry(current.state)) applyJob(core, current, retryJob(current, core.jobs.nextSequence()), effects)
    return current
  })
  if (!job) return jobNotFound()
  if (!canRetry(job.state))
    return problemReply('badRequest', `job ${job.id} is ${job.state}; only FAILED and TIMED_OUT jobs can be retried`)
  return jsonReply(`{"id":"${job.id}","status":"IN_QUEUE"}`)
}

/** CTL-3. A very long queue is emptied in the background, so that the answer comes in time (INV-2). */
async function purge(core: EndpointCore): Promise<Response> {
  const queued = core.jobs.queuedNormal + core.jobs.queuedLow
  const purged = cancelQueued(core)
  core.ctx.waitUntil(purged)
  const removed = await Promise.race([purged, new Promise<number>((resolve) => setTimeout(() => resolve(queued), PURGE_ANSWER_MS))])
  return jsonReply(`{"removed":${removed},"status":"completed"}`)
}

/** CTL-3: cancels every queued job; returns how many. In batches, so that a long queue does not hold up everything else. */
export async function cancelQueued(core: EndpointCore): Promise<number> {
  let removed = 0
  for (;;) {
    const batch = await core.transact((effects) => {
      const jobs = core.jobs.queued(PURGE_BATCH)
      for (const job of jobs) cancelJob(core, job, core.now(), effects)
      return jobs.length
    })
    removed += batch
    if (batch < PURGE_BATCH) return removed
  }
}
