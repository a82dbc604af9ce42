import { type Job, submitJob } from '../../src/domain/job.ts'
import { formatJobId } from '../../src/domain/job-id.ts'
import type { Submission } from '../../src/domain/submit.ts'
import type { EndpointCore } from './core.ts'
import { INPUT } from './payload-store.ts'

const RUN_RETENTION_MS = 30 * 60_000
const RUNSYNC_RETENTION_MS = 60_000
const RUNSYNC_MAX_RETENTION_MS = 5 * 60_000
/** RUN-7: a queue is full when it is longer than both. */
const QUEUE_FLOOR = 50
const QUEUE_PER_WORKER = 500
export const QUEUE_FULL = 'the queue of this endpoint is full; retry later or raise workers.max'
export const QUEUE_FULL_RETRY_SECONDS = '5'

/** Queues a job, unless the endpoint is deleted or its queue is full (RUN-7). `waitMs` is how long its client asked to wait, 0 for no word. */
export function acceptJob(core: EndpointCore, submission: Submission, sync: boolean, waitMs: number): Promise<Job | 'gone' | 'full'> {
  return core.transact((effects) => {
    const config = core.config()
    if (!config) return 'gone'
    const queued = core.jobs.queuedNormal + core.jobs.queuedLow
    if (queued > QUEUE_FLOOR && queued > config.workers.max * QUEUE_PER_WORKER) return 'full'
    const created = newJob(core, submission, sync, waitMs, config.timeoutMs)
    core.jobs.insert(created)
    core.payloads.insert(created.seq, INPUT, submission.input)
    effects.scale = true
    return created
  })
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
