import type { EndpointConfig } from '../../src/contract/endpoint-config.ts'
import type { JobCall } from '../../src/contract/job-routes.ts'
import { judgeKey, readIdempotencyKey } from '../../src/domain/idempotency.ts'
import { isTerminal, type Job, submitJob } from '../../src/domain/job.ts'
import { formatJobId } from '../../src/domain/job-id.ts'
import { retentionMs } from '../../src/domain/retention.ts'
import { readSubmission, type Submission } from '../../src/domain/submit.ts'
import { readHoldMs } from '../../src/domain/wait.ts'
import { callerOf } from '../../src/services/caller.ts'
import { sha256Hex } from '../../src/services/crypto.ts'
import { holdForRecord, recordJson, SYNC_WAIT_MS, timedOutRecord } from './client-reads.ts'
import type { EndpointCore } from './core.ts'
import type { Effects } from './effects.ts'
import { INPUT, S3_CONFIG } from './payload-store.ts'
import { endpointNotFound, jobNotFound, jsonReply, problemReply, readText } from './replies.ts'

/** RUN-7: a queue is full when it is longer than both. */
const QUEUE_FLOOR = 50
const QUEUE_PER_WORKER = 500

/** A submission that may become a job: what was asked, how, and under which idempotency key. */
interface Intent {
  submission: Submission
  sync: boolean
  /** Explicit `wait`, milliseconds; 0 without one (PP-4). */
  waitMs: number
  sealedS3Config: string | null
  idempotency: { userId: string; key: string; fingerprint: string } | null
}

type Outcome = { kind: 'created'; job: Job } | { kind: 'repeated'; jobId: string } | { kind: 'refused'; reply: () => Response }

/** `/run` and `/runsync`. */
export async function submit(core: EndpointCore, call: JobCall, request: Request): Promise<Response> {
  const limit = call.route.maxBodyBytes ?? 0
  const text = await readText(request, limit)
  if (text === null) return problemReply('payloadTooLarge', `request body exceeds ${limit} bytes`)
  const read = readSubmission(text, call.query.get('ttl'), core.settings.webhookAllow)
  if (!read.ok) return problemReply('badRequest', read.detail)
  const key = readIdempotencyKey(request.headers.get('idempotency-key'))
  if (!key.ok) return problemReply('badRequest', key.detail)
  const sync = call.operation === 'runsync'
  const { s3Config } = read.submission
  const intent: Intent = {
    submission: read.submission,
    sync,
    waitMs: call.query.has('wait') ? readHoldMs(call.query.get('wait'), SYNC_WAIT_MS) : 0,
    sealedS3Config: s3Config === null ? null : await core.seal.close(call.endpointId, s3Config),
    idempotency: key.key === null ? null : await identify(call, request, key.key, text),
  }
  const outcome = await core.transact((effects) => admitAndInsert(core, intent, effects))
  if (outcome.kind === 'refused') return outcome.reply()
  if (outcome.kind === 'repeated') return sync ? repeatSync(core, outcome.jobId) : repeatRun(outcome.jobId)
  const { job } = outcome
  if (!sync) return jsonReply(queuedReply(job.id))
  return holdForRecord(core, { ...call, jobId: job.id }, request, () => jsonReply(timedOutRecord(core, job)))
}

async function identify(call: JobCall, request: Request, key: string, body: string) {
  const fingerprint = await sha256Hex(`${call.operation}\n${call.query.get('ttl') ?? ''}\n${body}`)
  return { userId: callerOf(request).userId, key, fingerprint }
}

/** Inside the transaction: the job, with everything that belongs to it, or the reason why there is none. */
function admitAndInsert(core: EndpointCore, intent: Intent, effects: Effects): Outcome {
  const config = core.config()
  if (!config) return { kind: 'refused', reply: endpointNotFound }
  const { idempotency } = intent
  const known = idempotency && core.idempotency.find(idempotency.userId, idempotency.key)
  const verdict = idempotency ? judgeKey(known, idempotency.fingerprint, core.now()) : 'first'
  if (verdict === 'misuse') return { kind: 'refused', reply: keyMisused }
  if (verdict === 'repeat' && known) return { kind: 'repeated', jobId: known.jobId }
  const full = refuseFull(core, config.workers.max)
  if (full) return { kind: 'refused', reply: full }
  const job = newJob(core, intent, config)
  core.jobs.insert(job)
  core.payloads.insert(job.seq, INPUT, intent.submission.input)
  if (intent.sealedS3Config !== null) core.payloads.insert(job.seq, S3_CONFIG, intent.sealedS3Config)
  if (idempotency) {
    const { userId, key, fingerprint } = idempotency
    core.idempotency.put(userId, key, { fingerprint, jobId: job.id, createdAtMs: job.createdAtMs })
  }
  effects.scale = true
  return { kind: 'created', job }
}

/** RUN-7, and the bound of what one object may store. */
function refuseFull(core: EndpointCore, maxWorkers: number): (() => Response) | null {
  const queued = core.jobs.queuedNormal + core.jobs.queuedLow
  if (queued > QUEUE_FLOOR && queued > maxWorkers * QUEUE_PER_WORKER) {
    return () => problemReply('rateLimited', 'the queue of this endpoint is full; retry later or raise workers.max', { 'retry-after': '5' })
  }
  if (!core.storageIsFull()) return null
  const detail = 'the inputs and results of this endpoint fill its storage; retry when results have passed their retention'
  return () => problemReply('rateLimited', detail, { 'retry-after': '60' })
}

function newJob(core: EndpointCore, { submission, sync, waitMs, sealedS3Config }: Intent, config: EndpointConfig): Job {
  const nowMs = core.now()
  const seq = core.jobs.nextSequence()
  return submitJob({
    seq,
    id: formatJobId(seq, sync, core.meta.idMask(), crypto.getRandomValues(new Uint8Array(10))),
    lowPriority: submission.lowPriority,
    webhook: submission.webhook,
    createdAtMs: nowMs,
    ttlAtMs: nowMs + submission.ttlMs,
    executionTimeoutMs: submission.executionTimeoutMs ?? config.timeoutMs,
    retentionMs: retentionMs(config.retention, sync, waitMs),
    hasS3Config: sealedS3Config !== null,
  })
}

function queuedReply(jobId: string): string {
  return `{"id":"${jobId}","status":"IN_QUEUE"}`
}

function keyMisused(): Response {
  return problemReply('validationFailed', 'Idempotency-Key (header): it was used with another request before; use a fresh key')
}

/** PP-72: the first answer again. */
function repeatRun(jobId: string): Response {
  const reply = jsonReply(queuedReply(jobId))
  reply.headers.set('idempotency-replayed', 'true')
  return reply
}

/** PP-72: the result, once there is one. While the first request waits for it, a second one has nothing to wait for. */
async function repeatSync(core: EndpointCore, jobId: string): Promise<Response> {
  const job = await core.findJob(jobId)
  if (!job) return jobNotFound()
  if (!isTerminal(job.state)) {
    const detail = `Idempotency-Key (header): the first request under it is still running as job ${jobId}; wait for it or read its status`
    return problemReply('conflict', detail, { 'retry-after': '1' })
  }
  const reply = jsonReply(recordJson(core, job))
  reply.headers.set('idempotency-replayed', 'true')
  return reply
}
