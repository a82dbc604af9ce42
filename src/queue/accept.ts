import type { ProblemKey } from '../contract/problems.ts'
import type { EndpointConfig } from '../domain/endpoint/record.ts'
import { judgeKey } from '../domain/idempotency.ts'
import { formatJobId } from '../domain/job/id.ts'
import { type Job, type QueuedJob, submitJob } from '../domain/job/job.ts'
import { retentionMs } from '../domain/job/retention.ts'
import type { Submission } from '../domain/job/submit.ts'
import { liveConfig, type Tx } from './tx.ts'
import { hurrySearch } from './workers/outside-calls.ts'

/** RUN-7: a queue is full when its length exceeds both limits. */
const QUEUE_FLOOR = 50
const QUEUE_PER_WORKER = 500
const ID_RANDOM_BYTES = 10

/** A request that is to become a job. */
export interface JobRequest {
  submission: Submission
  /** Whether its client waits for the result. */
  sync: boolean
  /** Requested waiting time, milliseconds; 0: none requested (LIM-13). */
  waitMs: number
  /** Seals the client's `s3Config` with the id of the job (RUN-11); null without one. */
  sealS3Config: ((jobId: string) => string) | null
}

/** Reason for refusing a request. */
export interface Refused {
  key: ProblemKey
  detail: string
  headers: Record<string, string>
}

/** Idempotency key of a request, with the fingerprint of its content (RUN-13). */
export interface Idempotency {
  userId: string
  key: string
  fingerprint: string
}

/** A job that was accepted, or the refusal of its submit. */
export type Accepted = { job: Job } | { refused: Refused }

const GONE: Refused = { key: 'notFound', detail: 'endpoint not found', headers: {} }
const QUEUE_FULL: Refused = {
  key: 'rateLimited',
  detail: 'the queue of this endpoint is full; retry later or raise workers.max',
  headers: { 'retry-after': '5' },
}
const STORAGE_FULL: Refused = {
  key: 'rateLimited',
  detail: 'the inputs and results of this endpoint fill its storage; retry when results have passed their retention',
  headers: { 'retry-after': '60' },
}
const KEY_MISUSED: Refused = {
  key: 'validationFailed',
  detail: 'Idempotency-Key (header): it was used with another request before; use a fresh key',
  headers: {},
}

/** Queues a job with all its data, unless the endpoint is deleted or full (RUN-7, LIM-10). */
export function acceptJob(tx: Tx, request: JobRequest): Accepted {
  const { state, nowMs, effects } = tx
  const config = liveConfig(state)
  if (!config) return { refused: GONE }
  const queued = state.jobs.queuedNormal + state.jobs.queuedLow
  if (queued > QUEUE_FLOOR && queued > config.workers.max * QUEUE_PER_WORKER) return { refused: QUEUE_FULL }
  if (state.isFull()) {
    // Expired keys are otherwise removed only when a key is accepted, so their space would never be freed.
    state.keys.sweep(nowMs)
    return { refused: STORAGE_FULL }
  }
  const job = newJob(tx, request, config)
  state.jobs.insert(job, request.submission.input)
  if (request.sealS3Config !== null) state.payloads.setS3Config(job.seq, request.sealS3Config(job.id))
  if (!job.lowPriority && state.jobs.queuedNormal === 1) hurrySearch(tx)
  effects.scale = true
  return { job }
}

/** Stores the job and its key together, so that a repeat never finds one without the other (RUN-13). */
export function acceptOnce(tx: Tx, request: JobRequest, idempotency: Idempotency | null): Accepted | { repeatOf: string } {
  if (!idempotency) return acceptJob(tx, request)
  const { userId, key, fingerprint } = idempotency
  const known = tx.state.keys.find(userId, key)
  const verdict = judgeKey(known, fingerprint, tx.nowMs)
  if (verdict === 'misuse') return { refused: KEY_MISUSED }
  if (verdict === 'repeat' && known) return { repeatOf: known.jobId }
  const outcome = acceptJob(tx, request)
  if ('job' in outcome) tx.state.keys.put(userId, key, { fingerprint, jobId: outcome.job.id, createdAtMs: outcome.job.createdAtMs })
  return outcome
}

function newJob({ state, nowMs }: Tx, { submission, sync, waitMs, sealS3Config }: JobRequest, config: EndpointConfig): QueuedJob {
  const seq = state.jobs.nextSequence()
  return submitJob({
    seq,
    id: formatJobId(seq, sync, state.meta.idMask(), state.randomBytes(ID_RANDOM_BYTES)),
    lowPriority: submission.lowPriority,
    webhook: submission.webhook,
    createdAtMs: nowMs,
    ttlAtMs: nowMs + submission.ttlMs,
    executionTimeoutMs: submission.executionTimeoutMs ?? config.timeoutMs,
    retentionMs: retentionMs(config.retention, sync, waitMs),
    hasS3Config: sealS3Config !== null,
  })
}
