import { MAX_RESULT_BYTES } from '../../../src/contract/job-routes.ts'
import { isRepeat, noteDelivery } from '../../../src/domain/job/delivery.ts'
import { addChunk, finishJob, type Job, judgePost, renewLease } from '../../../src/domain/job/job.ts'
import { readChunk, readWorkerPost, type WorkerPost } from '../../../src/domain/job/worker-post.ts'
import type { Sender } from '../../../src/objects/endpoint.ts'
import type { Effects } from '../../../src/queue/effects.ts'
import { applyJob, drainWorker, noteSuccess, orderStop } from '../../../src/queue/transitions.ts'
import type { EndpointCore } from '../core.ts'
import { jsonReply, readText } from '../replies.ts'
import { MAX_CHUNK_BYTES, OUTPUT } from '../store/payload-store.ts'
import { workerOf } from '../worker-of.ts'

/** Room for the JSON around a result of the largest size. */
const BODY_SLACK_BYTES = 64 * 1024

/** `job-done`: a result or a progress update. Answers 200 whatever it decides, because a worker drops what is refused (WRK-18). */
export async function postResult(core: EndpointCore, jobId: string, from: Sender, request: Request): Promise<Response> {
  await takeResult(core, jobId, from, await readText(request, MAX_RESULT_BYTES + BODY_SLACK_BYTES))
  return jsonReply('{}')
}

/** What a `job-done` does; `body` is null when it was larger than any result may be. */
export async function takeResult(core: EndpointCore, jobId: string, from: Sender, body: string | null): Promise<void> {
  const post: WorkerPost = body === null ? tooLarge() : limitResult(readWorkerPost(body))
  await core.transact((effects) => {
    const job = core.currentJob(jobId, effects)
    const worker = workerOf(core, from)
    if (job) applyPost(core, job, from, post, effects)
    if (post.kind === 'result' && post.stopWorker && worker)
      drainWorker(core, worker, 'the worker asked to be stopped', core.now(), effects)
  })
}

function tooLarge(): WorkerPost {
  return { kind: 'result', output: undefined, error: `the result is larger than the limit of ${MAX_RESULT_BYTES} bytes`, stopWorker: false }
}

// INV-32: never COMPLETED without output because the output was too large. A text of n units has at least n bytes.
function limitResult(post: WorkerPost): WorkerPost {
  if (post.output === undefined || post.output.length <= MAX_RESULT_BYTES / 3) return post
  return new TextEncoder().encode(post.output).length > MAX_RESULT_BYTES ? tooLarge() : post
}

function applyPost(core: EndpointCore, job: Job, from: Sender, post: WorkerPost, effects: Effects): void {
  const verdict = judgePost(job, from, post.kind === 'result')
  const nowMs = core.now()
  if (verdict === 'superseded') core.meta.add('superseded')
  if (verdict !== 'accept' && verdict !== 'accept-late') return
  if (isRepeat(job, from.delivery)) return
  if (post.kind === 'progress') {
    core.payloads.put(job.seq, OUTPUT, post.output)
    core.jobs.save(job, noteDelivery(renewLease(job, nowMs, core.leaseTimes), from.delivery))
    return
  }
  applyJob(core, job, finishJob(job, post.error === null ? 'COMPLETED' : 'FAILED', nowMs, post.error), effects, post.output)
  noteSuccess(core)
}

/** `job-stream`: one chunk of a job's stream. */
export async function postChunk(core: EndpointCore, jobId: string, from: Sender, request: Request): Promise<Response> {
  const body = await readText(request, MAX_CHUNK_BYTES)
  await core.transact((effects) => {
    const job = core.currentJob(jobId, effects)
    if (!job) return
    if (judgePost(job, from, false) !== 'accept') {
      core.meta.add('superseded')
      return
    }
    if (isRepeat(job, from.delivery)) return
    const longer = noteDelivery(addChunk(job, core.now(), core.leaseTimes), from.delivery)
    const kept = body !== null && core.payloads.appendChunk(job.seq, longer.chunks, readChunk(body))
    if (kept) {
      core.jobs.save(job, longer)
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
