import { isRepeat, noteDelivery } from '../domain/job/delivery.ts'
import { addChunk, finishJob, type Holder, type Job, judgePost, renewLease } from '../domain/job/job.ts'
import type { WorkerPost } from '../domain/job/worker-post.ts'
import type { Delivery } from '../host-protocol/delivery.ts'
import { applyJob, orderStop } from './jobs.ts'
import { OUTPUT } from './state.ts'
import { currentJob, drainWorker } from './transitions.ts'
import type { Tx } from './tx.ts'
import { workerOf } from './worker-rows.ts'

/** STR-8. */
export const MAX_CHUNK_BYTES = 1_000_000

/** Who posts, and how its host numbered the post; null when no host did. */
export interface Sender extends Holder {
  delivery: Delivery | null
}

/** A result or a progress update. What cannot be applied is ignored, because a worker drops what is refused (WRK-18). */
export function takeResult(tx: Tx, jobId: string, from: Sender, post: WorkerPost): void {
  const job = currentJob(tx, jobId)
  const worker = workerOf(tx.state, from)
  if (job) applyPost(tx, job, from, post)
  if (post.kind === 'result' && post.stopWorker && worker) drainWorker(tx, worker, 'the worker asked to be stopped')
}

function applyPost(tx: Tx, job: Job, from: Sender, post: WorkerPost): void {
  const { jobs, payloads, meta, pingIntervalMs } = tx.state
  const verdict = judgePost(job, from, post.kind === 'result')
  if (verdict === 'superseded') meta.add('superseded')
  if (verdict !== 'accept' && verdict !== 'accept-late') return
  if (isRepeat(job, from.delivery)) return
  if (post.kind === 'progress') {
    payloads.put(job.seq, OUTPUT, post.output)
    jobs.save(job, noteDelivery(renewLease(job, tx.nowMs, { pingIntervalMs }), from.delivery))
    return
  }
  applyJob(tx, job, finishJob(job, post.error === null ? 'COMPLETED' : 'FAILED', tx.nowMs, post.error), post.output)
}

/** One chunk of a job's stream; null for one that was larger than a chunk may be (STR-8). */
export function takeChunk(tx: Tx, jobId: string, from: Sender, chunk: string | null): void {
  const { jobs, payloads, meta, pingIntervalMs } = tx.state
  const job = currentJob(tx, jobId)
  if (!job) return
  if (judgePost(job, from, false) !== 'accept') {
    meta.add('superseded')
    return
  }
  if (isRepeat(job, from.delivery)) return
  const longer = noteDelivery(addChunk(job, tx.nowMs, { pingIntervalMs }), from.delivery)
  if (chunk !== null && payloads.appendChunk(job.seq, longer.chunks, chunk)) {
    jobs.save(job, longer)
    tx.effects.changedJobs.add(job.seq)
    return
  }
  // Dropping a chunk silently would hand the client a stream with a hole in it.
  const reason = chunk === null ? `a stream chunk is larger than ${MAX_CHUNK_BYTES} bytes` : 'the stream holds too many undelivered chunks'
  applyJob(tx, job, finishJob(job, 'FAILED', tx.nowMs, reason))
  orderStop(tx, job)
}
