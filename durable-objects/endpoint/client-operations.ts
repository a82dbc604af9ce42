import type { JobCall } from '../../src/contract/job-routes.ts'
import { canRetry, finishJob, isTerminal, type Job, retryJob } from '../../src/domain/job.ts'
import { formatJobId } from '../../src/domain/job-id.ts'
import { jobRecordJson, type QueueNote } from '../../src/domain/job-record.ts'
import { readSubmission, type Submission } from '../../src/domain/submit.ts'
import { readHoldMs } from '../../src/domain/wait.ts'
import { countWorkers } from '../../src/domain/worker.ts'
import type { EndpointCore } from './core.ts'
import { INPUT, OUTPUT } from './payload-store.ts'
import { endpointNotFound, jobNotFound, jsonReply, problemReply, readText } from './replies.ts'
import { applyJob, cancelJob } from './transitions.ts'

const SYNC_WAIT_MS = 90_000
const STREAM_WAIT_MS = 10_000
const RUN_RETENTION_MS = 30 * 60_000
const RUNSYNC_RETENTION_MS = 60_000
const RUNSYNC_MAX_RETENTION_MS = 5 * 60_000
/** RUN-7: a queue is full when it is longer than both. */
const QUEUE_FLOOR = 50
const QUEUE_PER_WORKER = 500
const PURGE_BATCH = 1_000

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
      return jsonReply(`{"removed":${await cancelQueued(core)},"status":"completed"}`)
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
  return {
    seq,
    id: formatJobId(seq, sync, core.meta.idMask(), crypto.getRandomValues(new Uint8Array(10))),
    state: 'IN_QUEUE',
    lowPriority: submission.lowPriority,
    orderKey: seq,
    createdAtMs: nowMs,
    ttlAtMs: nowMs + submission.ttlMs,
    executionTimeoutMs: submission.executionTimeoutMs ?? timeoutMs,
    retentionMs: sync ? Math.min(RUNSYNC_MAX_RETENTION_MS, Math.max(RUNSYNC_RETENTION_MS, waitMs)) : RUN_RETENTION_MS,
    attempt: 0,
    retries: 0,
    holder: null,
    pastHolders: [],
    startedAtMs: null,
    acked: false,
    leaseUntilMs: null,
    leaseEndReason: '',
    missingPings: 0,
    finishedAtMs: null,
    error: null,
    errorDetail: null,
  }
}

// JOB-9: the one place where an expired job is still spoken of, the last reply of a held request.
function timedOutRecord(core: EndpointCore, job: Job): string {
  return jobRecordJson(finishJob(job, 'TIMED_OUT', core.now()))
}

function recordJson(core: EndpointCore, job: Job): string {
  return jobRecordJson(job, core.payloads.get(job.seq, OUTPUT), job.state === 'IN_QUEUE' ? queueNote(core) : undefined)
}

/** STA-2: says why a job waits when no worker is about to take it. */
function queueNote(core: EndpointCore): QueueNote | undefined {
  const workers = core.workers.all()
  const counts = countWorkers(workers, core.jobs.heldCounts())
  const config = core.config()
  const troubled = workers.filter((w) => (w.phase === 'FAILED' || (w.phase === 'PLACING' && w.attempts > 0)) && w.reason !== null).at(-1)
  if (config?.workers.max === 0) return { reason: 'workers.max is 0, so no worker may start', workers: counts }
  if (troubled?.reason) return { reason: troubled.reason, workers: counts }
  if (counts.initializing > 0) return { reason: 'a worker is starting', workers: counts }
  if (counts.running > 0) return { reason: 'all workers are busy', workers: counts }
  return undefined
}

async function status(core: EndpointCore, call: JobCall): Promise<Response> {
  const job = await core.findJob(call.jobId)
  return job ? jsonReply(recordJson(core, job)) : jobNotFound()
}

/** Waits until the job is terminal or `wait` has passed, then answers its record (RUN-4, STA-1). `gone` answers for a deleted job. */
async function holdForRecord(
  core: EndpointCore,
  call: JobCall,
  request: Request,
  gone: (job: Job | null) => Response | null,
): Promise<Response> {
  const untilMs = core.now() + readHoldMs(call.query.get('wait'), SYNC_WAIT_MS)
  for (;;) {
    const job = await core.findJob(call.jobId)
    if (!job) return gone(null) ?? jobNotFound()
    const leftMs = untilMs - core.now()
    if (isTerminal(job.state) || leftMs <= 0 || request.signal.aborted) return jsonReply(recordJson(core, job))
    await core.parking.waitForJob(job.seq, leftMs, request.signal)
  }
}

async function stream(core: EndpointCore, call: JobCall, request: Request): Promise<Response> {
  const untilMs = core.now() + readHoldMs(call.query.get('wait'), STREAM_WAIT_MS)
  let seen = false
  for (;;) {
    const job = await core.findJob(call.jobId)
    if (!job) return seen ? jsonReply('{"status":"TIMED_OUT","stream":[]}') : jobNotFound()
    seen = true
    const leftMs = untilMs - core.now()
    if (core.payloads.hasChunks(job.seq) || isTerminal(job.state) || leftMs <= 0 || request.signal.aborted) return drain(core, job.id)
    await core.parking.waitForJob(job.seq, leftMs, request.signal)
  }
}

/** STR-4, STR-5: hands out and removes what is buffered; a terminal status goes with the reply that carries the last chunks. */
async function drain(core: EndpointCore, jobId: string): Promise<Response> {
  const reply = await core.transact((effects) => {
    const job = core.currentJob(jobId, effects)
    if (!job) return null
    const { chunks, more } = core.payloads.drainChunks(job.seq)
    const done = isTerminal(job.state) && !more
    const state = done ? job.state : chunks.length > 0 ? 'IN_PROGRESS' : job.state
    const error = done && job.error !== null ? `"error":${JSON.stringify(job.error)},` : ''
    return `{${error}"status":"${state}","stream":[${chunks.join(',')}]}`
  })
  return reply === null ? jobNotFound() : jsonReply(reply)
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
    if (!current || !canRetry(current.state)) return current
    const queued = retryJob(current, core.jobs.nextSequence())
    applyJob(core, current, queued, effects)
    return queued
  })
  if (!job) return jobNotFound()
  if (job.state !== 'IN_QUEUE')
    return problemReply('badRequest', `job ${job.id} is ${job.state}; only FAILED and TIMED_OUT jobs can be retried`)
  return jsonReply(`{"id":"${job.id}","status":"IN_QUEUE"}`)
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

function health(core: EndpointCore): Response {
  const totals = core.meta.totals()
  const jobs = {
    completed: totals.completed,
    failed: totals.failed,
    inProgress: core.jobs.inProgress,
    inQueue: core.jobs.queuedNormal + core.jobs.queuedLow,
    retried: totals.retried,
  }
  return jsonReply(JSON.stringify({ jobs, workers: countWorkers(core.workers.all(), core.jobs.heldCounts()) }))
}
