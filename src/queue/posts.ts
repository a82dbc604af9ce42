import { isRepeat, noteDelivery } from '../domain/job/delivery.ts'
import { finishJob, type Holder, isEnded, type Job, judgePost } from '../domain/job/job.ts'
import { addChunk, renewLease } from '../domain/job/lease.ts'
import type { WorkerPost } from '../domain/job/worker-post.ts'
import type { Delivery } from '../host-protocol/delivery.ts'
import { applyJob, orderStop, peekJob } from './jobs.ts'
import { charsToKeep, type RoomAnswer, roomFor, withinRefusal } from './post-room.ts'
import type { QueueState } from './state.ts'
import { currentJob, drainWorker } from './transitions.ts'
import type { Tx } from './tx.ts'
import { workerOf } from './worker-rows.ts'

/** Sender of a post, with the host's number for the post; null when no host numbered it. */
export interface Sender extends Holder {
  delivery: Delivery | null
}

/** A post that was applied or ignored, or the room that it needs from the account's budget (WRK-49). */
export type PostOutcome = 'done' | { storageNeeded: number }

/** One chunk of a stream, or why it cannot be stored. */
export type ChunkPost = { json: string } | { refusal: string }

/**
 * Whether a post can change anything, by the present rows; other posts are not read (WRK-48). `final`: it may be a result. A result of a
 * finished job matters when its worker is active, because it may ask for the worker's stop.
 */
export function mayMatter(state: QueueState, jobId: string, from: Holder, final: boolean): boolean {
  const job = peekJob(state, jobId)
  const verdict = job ? judgePost(job, from, final) : 'superseded'
  if (verdict === 'accept' || verdict === 'accept-late') return true
  const phase = final ? workerOf(state, from)?.phase : undefined
  return phase !== undefined && phase !== 'DRAINING' && phase !== 'FAILED'
}

/** Records an unread post: only the count of superseded posts changes. */
export function noteUnread(tx: Tx, jobId: string, from: Holder, final: boolean): void {
  const job = currentJob(tx, jobId)
  if (job && judgePost(job, from, final) === 'superseded') tx.state.meta.add('superseded')
}

/**
 * Applies a result or a progress update. A post that cannot be applied is ignored, because a worker drops a refused one (WRK-18). It is
 * read only when its job or its worker exists. `answer`: answer of the account's budget, once it was asked.
 */
export function takeResult(tx: Tx, jobId: string, from: Sender, read: () => WorkerPost, answer: RoomAnswer | null = null): PostOutcome {
  const job = currentJob(tx, jobId)
  const worker = workerOf(tx.state, from)
  if (!job && !worker) return 'done'
  const post = read()
  const outcome = job ? applyPost(tx, job, from, post, answer) : 'done'
  if (outcome !== 'done') return outcome
  if (post.kind === 'result' && post.stopWorker && worker) drainWorker(tx, worker, 'the worker asked to be stopped')
  return 'done'
}

function applyPost(tx: Tx, job: Job, from: Sender, post: WorkerPost, answer: RoomAnswer | null): PostOutcome {
  const { jobs, payloads, meta, pingIntervalMs } = tx.state
  const verdict = judgePost(job, from, post.kind === 'result')
  if (verdict === 'superseded') meta.add('superseded')
  if (isEnded(job) || (verdict !== 'accept' && verdict !== 'accept-late')) return 'done'
  if (isRepeat(job, from.delivery)) return 'done'
  const room = roomFor(tx.state, job, charsToKeep(post), post, answer)
  if ('storageNeeded' in room) return room
  if (post.kind === 'progress') {
    if (job.state !== 'IN_PROGRESS') return 'done'
    // The next update, or the result, replaces it; the older one that stays is outdated, but not wrong.
    if (room.refusal === null) payloads.setOutput(job.seq, post.output)
    jobs.save(job, noteDelivery(renewLease(job, tx.nowMs, { pingIntervalMs }), from.delivery))
    return 'done'
  }
  const { output, error } = room.refusal === null ? post : withinRefusal(post, room.refusal)
  applyJob(tx, job, finishJob(job, error === null ? 'COMPLETED' : 'FAILED', tx.nowMs, error), output)
  return 'done'
}

/** Applies one chunk of a job's stream (STR-8). */
export function takeChunk(tx: Tx, jobId: string, from: Sender, read: () => ChunkPost, answer: RoomAnswer | null = null): PostOutcome {
  const { jobs, payloads, meta, pingIntervalMs } = tx.state
  const job = currentJob(tx, jobId)
  if (!job) return 'done'
  if (job.state !== 'IN_PROGRESS' || judgePost(job, from, false) !== 'accept') {
    meta.add('superseded')
    return 'done'
  }
  if (isRepeat(job, from.delivery)) return 'done'
  const chunk = read()
  const room = 'json' in chunk ? roomFor(tx.state, job, chunk.json.length, null, answer) : chunk
  if ('storageNeeded' in room) return room
  const longer = noteDelivery(addChunk(job, tx.nowMs, { pingIntervalMs }), from.delivery)
  if ('json' in chunk && room.refusal === null && payloads.appendChunk(job.seq, longer.chunks, chunk.json)) {
    jobs.save(job, longer)
    tx.effects.changedJobs.add(job.seq)
    return 'done'
  }
  // Dropping a chunk silently would give the client a stream with a gap.
  const reason = room.refusal ?? 'the stream holds too many undelivered chunks'
  applyJob(tx, job, finishJob(job, 'FAILED', tx.nowMs, reason))
  orderStop(tx, job)
  return 'done'
}
