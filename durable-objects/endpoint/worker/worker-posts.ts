import { MAX_RESULT_BYTES } from '../../../src/contract/jobs/job-routes.ts'
import { readChunk, readWorkerPost, type WorkerPost } from '../../../src/domain/job/worker-post.ts'
import { jsonReply } from '../../../src/objects/plain-reply.ts'
import { MAX_CHUNK_BYTES, type Sender, takeChunk, takeResult } from '../../../src/queue/posts.ts'
import type { EndpointCore } from '../core.ts'
import { readText } from '../replies.ts'

/** Room for the JSON around a result of the largest size. */
const BODY_SLACK_BYTES = 64 * 1024

/** `job-done`: a result or a progress update. Answers 200 whatever comes of it, because a worker drops what is refused (WRK-18). */
export async function postResult(core: EndpointCore, jobId: string, from: Sender, request: Request): Promise<Response> {
  await takeResultText(core, jobId, from, await readText(request, MAX_RESULT_BYTES + BODY_SLACK_BYTES))
  return jsonReply('{}')
}

/** A `job-done` as text; null when it was larger than any result may be. */
export async function takeResultText(core: EndpointCore, jobId: string, from: Sender, body: string | null): Promise<void> {
  const post = body === null ? tooLarge() : limitResult(readWorkerPost(body))
  await core.transact((tx) => takeResult(tx, jobId, from, post))
}

function tooLarge(): WorkerPost {
  return { kind: 'result', output: undefined, error: `the result is larger than the limit of ${MAX_RESULT_BYTES} bytes`, stopWorker: false }
}

// INV-32: never COMPLETED without output because the output was too large. A text of n units has at least n bytes.
function limitResult(post: WorkerPost): WorkerPost {
  if (post.output === undefined || post.output.length <= MAX_RESULT_BYTES / 3) return post
  return new TextEncoder().encode(post.output).length > MAX_RESULT_BYTES ? tooLarge() : post
}

/** `job-stream`: one chunk of a job's stream. */
export async function postChunk(core: EndpointCore, jobId: string, from: Sender, request: Request): Promise<Response> {
  const body = await readText(request, MAX_CHUNK_BYTES)
  const chunk = body === null ? null : readChunk(body)
  await core.transact((tx) => takeChunk(tx, jobId, from, chunk))
  return jsonReply('{}')
}
