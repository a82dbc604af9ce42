import type { ClientCall } from '../../../src/contract/jobs/job-routes.ts'
import { canRetry, retryRefusal } from '../../../src/domain/job/job.ts'
import { wantsEvents } from '../../../src/domain/text/sse.ts'
import { cancelBatch } from '../../../src/queue/endpoint-life.ts'
import { cancelJob, requeueJob } from '../../../src/queue/jobs.ts'
import { currentJob } from '../../../src/queue/transitions.ts'
import type { Tx } from '../../../src/queue/tx.ts'
import { type Cause, causeOf } from '../../../src/rpc/cause.ts'
import { jsonReply } from '../../../src/rpc/plain-reply.ts'
import { type OpenaiParts, openai } from '../openai/openai.ts'
import type { Background, Clock, Commits, Outboxes, Outside, Rows, Serving } from '../parts.ts'
import { jobNotFound, problemReply } from '../replies.ts'
import { cancelled, note, purgedQueue } from './audit-notes.ts'
import { bulkProgress, startBulk } from './bulk.ts'
import { type HoldParts, health, holdForRecord, status, stream } from './client-reads.ts'
import { streamEvents } from './event-stream.ts'
import { explain } from './explain.ts'
import { listRequests, metrics } from './inspection.ts'
import { type RecordParts, recordReply } from './record-reply.ts'
import { type SubmitParts, submit } from './submissions.ts'
import { timeline } from './timeline.ts'

/** Parts that the client job API uses. */
export type ClientParts = HoldParts & OpenaiParts & Outboxes & Serving & SubmitParts

const PURGE_ANSWER_MS = 1_500

/** Runs one call of the client job API, on an existing endpoint that the caller owns. */
export async function clientOperation(core: ClientParts, call: ClientCall, request: Request): Promise<Response> {
  switch (call.operation) {
    case 'run':
    case 'runsync':
      return submit(core, call, request)
    case 'status':
      return status(core, call, request)
    case 'status-sync':
      return holdForRecord(core, call, request, jobNotFound)
    case 'stream':
      return wantsEvents(request.headers.get('accept')) ? streamEvents(core, call, request) : stream(core, call, request)
    case 'cancel':
      return cancel(core, call, request)
    case 'retry':
      return retry(core, call)
    case 'purge-queue':
      return purge(core, call, causeOf(request))
    case 'health':
      return health(core)
    case 'requests':
      return listRequests(core, call)
    case 'requests/cancel':
      return startBulk(core, call, request, 'cancel')
    case 'requests/retry':
      return startBulk(core, call, request, 'retry')
    case 'requests/bulk':
      return bulkProgress(core, call)
    case 'metrics':
      return metrics(core, call)
    case 'openai':
      return openai(core, call, request)
    case 'timeline':
      return timeline(core, call)
    case 'explain':
      return explain(core, call)
    default:
      throw new Error(`no such operation: ${call.operation satisfies never}`)
  }
}

async function cancel(core: Commits & Outboxes & RecordParts, call: ClientCall, request: Request): Promise<Response> {
  const cause = causeOf(request)
  const job = await core.transact((tx) => {
    const current = currentJob(tx, call.jobId)
    if (!current) return null
    const after = cancelJob(tx, current)
    // A job that was already terminal is unchanged, so there is nothing to audit.
    if (after !== current) note(core, tx, cause, cancelled(call.jobId, current.state))
    return after
  })
  return job ? recordReply(core, job, request.signal) : jobNotFound()
}

async function retry(core: Commits, call: ClientCall): Promise<Response> {
  const refusal = await core.transact((tx): Response | null => {
    const job = currentJob(tx, call.jobId)
    if (!job) return jobNotFound()
    if (!canRetry(job)) return problemReply('badRequest', retryRefusal(job))
    requeueJob(tx, job)
    return null
  })
  return refusal ?? jsonReply(`{"id":"${call.jobId}","status":"IN_QUEUE"}`)
}

/** CTL-3. A very long queue is emptied in the background, so that the reply is in time (INV-2). */
async function purge(core: Background & Clock & Commits & Outboxes & Outside & Rows, call: ClientCall, cause: Cause): Promise<Response> {
  const queued = core.state.jobs.queuedNormal + core.state.jobs.queuedLow
  // Written with the first batch; the other batches follow even if the caller disconnects.
  const purged = cancelQueued(core, (tx) => {
    if (queued > 0) note(core, tx, cause, purgedQueue(call.endpointId, queued))
  })
  core.ctx.waitUntil(purged)
  const removed = await Promise.race([purged, new Promise<number>((resolve) => core.timers.after(PURGE_ANSWER_MS, () => resolve(queued)))])
  return jsonReply(`{"removed":${removed},"status":"completed"}`)
}

/**
 * CTL-3: cancels every queued job; returns how many. Works in batches, so that a long queue does not block other calls. `first` runs in the
 * transaction of the first batch.
 */
export async function cancelQueued(core: Commits, first: (tx: Tx) => void = () => {}): Promise<number> {
  let removed = 0
  for (let isFirst = true; ; isFirst = false) {
    const { cancelled, more } = await core.transact((tx) => {
      if (isFirst) first(tx)
      return cancelBatch(tx)
    })
    removed += cancelled
    if (!more) return removed
  }
}
