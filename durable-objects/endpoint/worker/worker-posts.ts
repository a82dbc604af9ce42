import { MAX_CHUNK_BYTES, MAX_RESULT_BYTES } from '../../../src/contract/jobs/job-routes.ts'
import { readChunk, readWorkerPost, type WorkerPost } from '../../../src/domain/job/worker-post.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { RoomAnswer } from '../../../src/queue/post-room.ts'
import { type ChunkPost, mayMatter, noteUnread, type PostOutcome, type Sender, takeChunk, takeResult } from '../../../src/queue/posts.ts'
import type { Tx } from '../../../src/queue/tx.ts'
import { jsonReply } from '../../../src/rpc/plain-reply.ts'
import type { Commits, Outside, Room, Rows } from '../parts.ts'
import { problemReply } from '../replies.ts'
import { type PostLimit, type ReadBody, readPost } from './post-body.ts'

/** Parts that posts use. */
export type PostParts = Commits & Outside & Room & Rows

/** Allowance for the JSON around a result of the largest size. */
const BODY_SLACK_BYTES = 64 * 1024
const RETRY_SECONDS = '1'

/** Applies a post, with the reply of the account's storage quota if it was queried. */
type Apply = (tx: Tx, answer: RoomAnswer | null) => PostOutcome

interface PostKind extends PostLimit {
  /** Whether the post can be a result. */
  final: boolean
  applyOf(jobId: string, from: Sender, body: ReadBody): Apply
}

const RESULT: PostKind = {
  maxBytes: MAX_RESULT_BYTES + BODY_SLACK_BYTES,
  tooLarge: `the result is larger than the limit of ${MAX_RESULT_BYTES} bytes`,
  final: true,
  applyOf: (jobId, from, body) => (tx, answer) => takeResult(tx, jobId, from, () => readResult(body), answer),
}
const CHUNK: PostKind = {
  maxBytes: MAX_CHUNK_BYTES,
  tooLarge: `a stream chunk is larger than ${MAX_CHUNK_BYTES} bytes`,
  final: false,
  applyOf: (jobId, from, body) => (tx, answer) => takeChunk(tx, jobId, from, () => readChunkPost(body), answer),
}

/**
 * `job-done`: a result or a progress update. Answers 200 whatever its outcome, because a worker drops a refused post (WRK-18); 503 while
 * the account sends too much at a time, which is temporary.
 */
export function postResult(core: PostParts, jobId: string, from: Sender, request: Request): Promise<Response> {
  return answerPost(core, RESULT, jobId, from, request)
}

/** Applies a post given as text. */
export function takePostText(
  core: Commits & Room & Rows,
  verb: 'job-done' | 'job-stream',
  jobId: string,
  from: Sender,
  text: string,
): Promise<void> {
  return commitPost(core, (verb === 'job-done' ? RESULT : CHUNK).applyOf(jobId, from, { kind: 'text', text }))
}

/** `job-stream`: one chunk of a job's stream. */
export function postChunk(core: PostParts, jobId: string, from: Sender, request: Request): Promise<Response> {
  return answerPost(core, CHUNK, jobId, from, request)
}

async function answerPost(core: PostParts, kind: PostKind, jobId: string, from: Sender, request: Request): Promise<Response> {
  const body = await readPost(core, request, kind, () => mayMatter(core.state, jobId, from, kind.final))
  if (body.kind === 'busy') return problemReply('unavailable', body.detail, { 'retry-after': RETRY_SECONDS })
  if (body.kind === 'unread') await core.transact((tx) => noteUnread(tx, jobId, from, kind.final))
  else await commitPost(core, kind.applyOf(jobId, from, body))
  return jsonReply('{}')
}

// Most posts fit in the existing grant. Otherwise the account's quota is queried outside the transaction, and the post is applied again.
async function commitPost(core: Commits & Room & Rows, apply: Apply): Promise<void> {
  const outcome = await core.transact((tx) => apply(tx, null))
  if (outcome === 'done') return
  const answer = await requestStorage(core, outcome.storageNeeded)
  await core.transact((tx) => apply(tx, answer))
}

async function requestStorage(core: Room & Rows, chars: number): Promise<RoomAnswer> {
  const config = core.config()
  if (!config) return { refusal: null }
  try {
    return { refusal: (await core.grant.take(config, chars))?.detail ?? null }
  } catch (error) {
    // Finished work is stored even if the quota cannot be queried.
    logEvent('warn', 'the storage quota of a post could not be requested; the post is stored anyway', { endpointId: config.id, error })
    return { refusal: null }
  }
}

// INV-32: a job whose output is too large never becomes COMPLETED without it. A text of n UTF-16 units has at most 3n bytes.
function readResult(body: ReadBody): WorkerPost {
  if (body.kind === 'refused') return failedResult(body.reason)
  const post = readWorkerPost(body.text)
  if (post.output === undefined || post.output.length <= MAX_RESULT_BYTES / 3) return post
  return new TextEncoder().encode(post.output).length > MAX_RESULT_BYTES ? failedResult(RESULT.tooLarge) : post
}

function failedResult(error: string): WorkerPost {
  return { kind: 'result', output: undefined, error, stopWorker: false }
}

function readChunkPost(body: ReadBody): ChunkPost {
  return body.kind === 'text' ? { json: readChunk(body.text) } : { refusal: body.reason }
}
