import type { JobCall } from '../../src/contract/job-routes.ts'
import { isTerminal, type Job } from '../../src/domain/job.ts'
import { readOpenaiCall, unwrapOutput } from '../../src/domain/openai.ts'
import { readErrorOutput } from '../../src/domain/openai-error.ts'
import { chunkOutput } from '../../src/domain/openai-stream.ts'
import { plainSubmission } from '../../src/domain/submit.ts'
import { acceptJob } from './accept-job.ts'
import type { EndpointCore } from './core.ts'
import { abandon, failure, jobError, refusal } from './openai-outcome.ts'
import { streamAnswer } from './openai-stream.ts'
import { OUTPUT } from './payload-store.ts'
import { jsonReply, readText } from './replies.ts'

/** PP-43: nobody can ask for the answer later, so the job lives no longer than anybody would hold the line. */
const OPENAI_TTL_MS = 3_600_000

/** `/openai/*` (OAI-1): a call becomes a job, and its answer is what the worker said, without the record around it. */
export async function openai(core: EndpointCore, call: JobCall, request: Request): Promise<Response> {
  const limit = call.route.maxBodyBytes ?? 0
  const text = await readText(request, limit)
  if (text === null) return refusal('payloadTooLarge', `request body exceeds ${limit} bytes`)
  const read = readOpenaiCall(request.method, call.rest, text)
  if (!read.ok) return refusal('badRequest', read.detail)
  const submission = { ...plainSubmission(read.call.input), ttlMs: OPENAI_TTL_MS }
  const outcome = await core.transact((effects) => acceptJob(core, { submission, sync: true, waitMs: 0, sealedS3Config: null }, effects))
  if ('refused' in outcome) return refusal(outcome.refused.key, outcome.refused.detail, outcome.refused.headers)
  return read.call.stream ? streamAnswer(core, outcome.job, request) : holdForAnswer(core, outcome.job, request)
}

/** Waits for the end of the job, which its ttl bounds. */
async function holdForAnswer(core: EndpointCore, accepted: Job, request: Request): Promise<Response> {
  for (;;) {
    const job = await core.findJob(accepted.id)
    const error = jobError(job)
    if (error) return failure(error)
    if (job && isTerminal(job.state)) return answer(core, job)
    if (request.signal.aborted) await abandon(core, accepted.id)
    else await core.parking.waitForJob(accepted.seq, accepted.ttlAtMs - core.now(), request.signal)
  }
}

/** OAI-4. A worker that streamed although nobody asked, and keeps no aggregate, has left its answer in the chunks. */
function answer(core: EndpointCore, job: Job): Response {
  const output = core.payloads.get(job.seq, OUTPUT) ?? 'null'
  const chunks = output === '[]' ? core.payloads.readChunks(job.seq, 0) : []
  const complete = chunks.length > 0 ? `[${chunks.map(({ json }) => chunkOutput(json)).join(',')}]` : output
  const text = unwrapOutput(complete)
  const error = readErrorOutput(text)
  return error ? failure(error) : jsonReply(text)
}
