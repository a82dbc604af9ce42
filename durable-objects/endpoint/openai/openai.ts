import { type JobCall, MAX_RESULT_BYTES } from '../../../src/contract/jobs/job-routes.ts'
import { openaiError } from '../../../src/contract/problem-body.ts'
import { isTerminal, type Job } from '../../../src/domain/job/job.ts'
import { plainSubmission } from '../../../src/domain/job/submit.ts'
import { readOpenaiCall, unwrapOutput } from '../../../src/domain/openai/call.ts'
import { readErrorOutput } from '../../../src/domain/openai/error.ts'
import { chunkOutput } from '../../../src/domain/openai/stream.ts'
import { acceptJob } from '../../../src/queue/accept.ts'
import { OUTPUT } from '../../../src/queue/state.ts'
import { jsonReply } from '../../../src/rpc/plain-reply.ts'
import type { Clock, Commits, Jobs, Room, Rows, Waiting } from '../parts.ts'
import { readText } from '../replies.ts'
import type { PayloadStore } from '../store/jobs/payload-store.ts'
import type { SqlState } from '../store/sql-state.ts'
import { abandon, failure, jobError, refusal } from './openai-outcome.ts'
import { type StreamParts, streamAnswer } from './openai-stream.ts'

/** Parts that `/openai/*` uses. */
export type OpenaiParts = Clock & Room & StreamParts

/** OAI-12: the answer cannot be requested later, so the job lives at most as long as a client would wait. */
const OPENAI_TTL_MS = 3_600_000

/** `/openai/*` (OAI-1): a call becomes a job, and the reply is the worker's output without the status record. */
export async function openai(core: OpenaiParts, call: JobCall, request: Request): Promise<Response> {
  const limit = call.route.maxBodyBytes ?? 0
  const text = await readText(request, limit)
  if (text === null) return refusal('payloadTooLarge', `request body exceeds ${limit} bytes`)
  const read = readOpenaiCall(request.method, call.rest, text)
  if (!read.ok) return refusal('badRequest', read.detail)
  const submission = { ...plainSubmission(read.call.input), ttlMs: OPENAI_TTL_MS }
  const config = core.config()
  const full = config && (await core.grant.take(config, text.length))
  if (full) return refusal(full.key, full.detail, full.headers)
  const outcome = await core.transact((tx) => acceptJob(tx, { submission, sync: true, waitMs: 0, sealS3Config: null }))
  if ('refused' in outcome) return refusal(outcome.refused.key, outcome.refused.detail, outcome.refused.headers)
  return read.call.stream ? streamAnswer(core, outcome.job, request) : holdForAnswer(core, outcome.job, request)
}

/** Waits for the end of the job, which its ttl bounds. */
async function holdForAnswer(core: Clock & Commits & Jobs & Rows & Waiting, accepted: Job, request: Request): Promise<Response> {
  for (;;) {
    const job = await core.findJob(accepted.id)
    const error = jobError(job)
    if (error) return failure(error)
    if (job && isTerminal(job.state)) return answer(core.state, job)
    if (request.signal.aborted) await abandon(core, accepted.id)
    else await core.parking.waitForJob(accepted.seq, accepted.ttlAtMs - core.now(), request.signal)
  }
}

/** OAI-4. A worker that streamed without being asked to, and stores no aggregate, has left its answer in the chunks. */
function answer({ payloads }: SqlState, job: Job): Response {
  const output = payloads.get(job.seq, OUTPUT) ?? 'null'
  const pieces = output === '[]' ? streamedOutputs(payloads, job.seq) : []
  if (pieces === null) return failure(openaiError(500, `the response is larger than the limit of ${MAX_RESULT_BYTES} bytes`))
  const text = unwrapOutput(pieces.length > 0 ? `[${pieces.join(',')}]` : output)
  const error = readErrorOutput(text)
  return error ? failure(error) : jsonReply(text)
}

/** The outputs of all chunks; null when together they exceed the limit of a result. */
function streamedOutputs(payloads: PayloadStore, seq: number): string[] | null {
  const outputs: string[] = []
  let chars = 0
  for (let portion = payloads.readChunks(seq, 0); portion.length > 0; ) {
    const read = portion.map(({ json }) => chunkOutput(json))
    outputs.push(...read)
    chars += read.reduce((sum, output) => sum + output.length, 0)
    if (chars > MAX_RESULT_BYTES) return null
    portion = payloads.readChunks(seq, portion.at(-1)?.number ?? 0)
  }
  return outputs
}
