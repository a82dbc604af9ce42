import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import { readQuery, StreamQuery, WaitQuery } from '../../../src/contract/jobs/queries.ts'
import { isEnded, isTerminal } from '../../../src/domain/job/job.ts'
import { countWorkers } from '../../../src/domain/worker/worker.ts'
import { currentJob } from '../../../src/queue/transitions.ts'
import { occupiedWorkers } from '../../../src/queue/worker-rows.ts'
import { jsonReply, type PlainReply } from '../../../src/rpc/plain-reply.ts'
import type { Clock, Commits, Jobs, Rows, Serving, Waiting } from '../parts.ts'
import { JOB_NOT_FOUND, jobNotFound, plainProblem, problemReply } from '../replies.ts'
import { waitingReason } from '../slot-calls.ts'
import { JobWatch, type WatchParts } from './job-watch.ts'
import { type owedRecordReply, type RecordParts, recordReply, shortRecordJson } from './record-reply.ts'

/** Parts that a held call uses. */
export type HoldParts = RecordParts & WatchParts

/** `/status`: answers without waiting (STA-1). */
export async function status(core: RecordParts, call: JobCall, request: Request): Promise<Response> {
  const job = await core.findJob(call.jobId)
  return job ? recordReply(core, job, request.signal) : jobNotFound()
}

/** The `/status` reply as plain data; null when the record is too large for an RPC. */
export async function plainStatus(core: Jobs & Rows, jobId: string): Promise<PlainReply | null> {
  const job = await core.findJob(jobId)
  if (!job) return plainProblem('notFound', JOB_NOT_FOUND)
  return shortRecordJson(core, job)
}

/**
 * Waits until the job is terminal or `wait` has passed, then answers with its record (RUN-4, STA-1). `whenExpired` answers when the job's
 * ttl deleted it during the wait, `answer` otherwise.
 */
export async function holdForRecord(
  core: HoldParts,
  call: JobCall,
  request: Request,
  whenExpired: (record: string) => Response,
  answer: typeof recordReply | typeof owedRecordReply = recordReply,
): Promise<Response> {
  const untilMs = core.timers.steadyMs() + WaitQuery.shape.wait.parse(call.query.get('wait') ?? undefined)
  const watch = new JobWatch(core, call.jobId)
  for (;;) {
    const job = await watch.poll()
    if (!job) {
      const record = watch.expiredRecord()
      return record === null ? jobNotFound() : whenExpired(record)
    }
    const leftMs = untilMs - core.timers.steadyMs()
    if (isTerminal(job.state) || leftMs <= 0 || request.signal.aborted) return answer(core, job, request.signal)
    await watch.wait(leftMs, request.signal)
  }
}

/** `/stream`: waits for chunks or the end of the job, then returns the buffered chunks (STR-6). */
export async function stream(core: Clock & Commits & Jobs & Rows & Waiting, call: JobCall, request: Request): Promise<Response> {
  const read = readQuery(StreamQuery, call.query)
  if (!read.ok) return problemReply('badRequest', read.fault)
  const untilMs = core.timers.steadyMs() + read.values.wait
  let seen = false
  for (;;) {
    const job = await core.findJob(call.jobId)
    if (!job) return seen ? jsonReply('{"status":"TIMED_OUT","stream":[]}') : jobNotFound()
    seen = true
    const leftMs = untilMs - core.timers.steadyMs()
    if (core.state.payloads.hasChunks(job.seq) || isTerminal(job.state) || leftMs <= 0 || request.signal.aborted) return drain(core, job.id)
    await core.parking.waitForJob(job.seq, leftMs, request.signal)
  }
}

/** STR-4, STR-5: returns and removes buffered chunks; the reply with the last chunks carries the terminal status. */
async function drain(core: Commits & Rows, jobId: string): Promise<Response> {
  const reply = await core.transact((tx) => {
    const job = currentJob(tx, jobId)
    if (!job) return null
    const { chunks, more } = core.state.payloads.drainChunks(job.seq)
    const done = isEnded(job) && !more
    const state = done ? job.state : chunks.length > 0 ? 'IN_PROGRESS' : job.state
    const error = done && job.error !== null ? `"error":${JSON.stringify(job.error)},` : ''
    return `{${error}"status":"${state}","stream":[${chunks.join(',')}]}`
  })
  return reply === null ? jobNotFound() : jsonReply(reply)
}

/** `/health` (HLT-1). */
export function health(core: Rows & Serving): Response {
  const totals = core.state.meta.totals()
  const jobs = {
    completed: totals.completed,
    failed: totals.failed,
    inProgress: core.state.jobs.inProgress,
    inQueue: core.state.jobs.queuedNormal + core.state.jobs.queuedLow,
    retried: totals.retried,
  }
  const workers = countWorkers(core.state.workers.all(), occupiedWorkers(core.state))
  return jsonReply(JSON.stringify({ jobs, workers, ...(core.config()?.type === 'LOAD_BALANCER' && { requests: openRequests(core) }) }))
}

/** LB-15: open requests of a load-balancing endpoint, and the reason why some wait. */
function openRequests(core: Rows & Serving) {
  const waiting = core.slots.waiting()
  const inFlight = [...core.slots.held().values()].reduce((sum, requests) => sum + requests, 0)
  return { inFlight, waiting, ...(waiting > 0 && { reason: waitingReason(core.state) }) }
}
