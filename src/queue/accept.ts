import type { EndpointCore } from '../../durable-objects/endpoint/core.ts'
import { INPUT, S3_CONFIG } from '../../durable-objects/endpoint/store/payload-store.ts'
import type { ProblemKey } from '../contract/problems.ts'
import type { EndpointConfig } from '../domain/endpoint/record.ts'
import { formatJobId } from '../domain/job/id.ts'
import { type Job, submitJob } from '../domain/job/job.ts'
import { retentionMs } from '../domain/job/retention.ts'
import type { Submission } from '../domain/job/submit.ts'
import type { Effects } from './effects.ts'

/** RUN-7: a queue is full when it is longer than both. */
const QUEUE_FLOOR = 50
const QUEUE_PER_WORKER = 500

/** What is to become a job. */
export interface JobRequest {
  submission: Submission
  /** Its client waits for the result. */
  sync: boolean
  /** How long it asked to wait, milliseconds; 0 for no word (PP-4). */
  waitMs: number
  sealedS3Config: string | null
}

/** Why there is no job. */
export interface Refused {
  key: ProblemKey
  detail: string
  headers: Record<string, string>
}

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

/** Inside a transaction: queues a job with everything that belongs to it, unless the endpoint is deleted or full (RUN-7, PP-75). */
export function acceptJob(core: EndpointCore, request: JobRequest, effects: Effects): { job: Job } | { refused: Refused } {
  const config = core.config()
  if (!config) return { refused: GONE }
  const queued = core.jobs.queuedNormal + core.jobs.queuedLow
  if (queued > QUEUE_FLOOR && queued > config.workers.max * QUEUE_PER_WORKER) return { refused: QUEUE_FULL }
  if (core.storageIsFull()) {
    // Only accepted keys sweep out old ones, so what they fill would never be given back.
    core.idempotency.sweep(core.now())
    return { refused: STORAGE_FULL }
  }
  const job = newJob(core, request, config)
  core.jobs.insert(job)
  core.payloads.insert(job.seq, INPUT, request.submission.input)
  if (request.sealedS3Config !== null) core.payloads.insert(job.seq, S3_CONFIG, request.sealedS3Config)
  effects.scale = true
  return { job }
}

function newJob(core: EndpointCore, { submission, sync, waitMs, sealedS3Config }: JobRequest, config: EndpointConfig): Job {
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
