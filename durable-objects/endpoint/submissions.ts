import type { JobCall } from '../../src/contract/job-routes.ts'
import { judgeKey, readIdempotencyKey } from '../../src/domain/idempotency.ts'
import { isTerminal, type Job } from '../../src/domain/job.ts'
import { readSubmission } from '../../src/domain/submit.ts'
import { readHoldMs } from '../../src/domain/wait.ts'
import { callerOf } from '../../src/services/caller.ts'
import { sha256Hex } from '../../src/services/crypto.ts'
import { acceptJob, type JobRequest, type Refused } from './accept-job.ts'
import { holdForRecord, recordJson, SYNC_WAIT_MS, timedOutRecord } from './client-reads.ts'
import type { EndpointCore } from './core.ts'
import type { Effects } from './effects.ts'
import { jobNotFound, jsonReply, problemReply, readText } from './replies.ts'

/** The key under which a request may come again, and what it says. */
interface Idempotency {
  userId: string
  key: string
  fingerprint: string
}

type Outcome = { job: Job } | { refused: Refused } | { repeatOf: string }

const KEY_MISUSED: Refused = {
  key: 'validationFailed',
  detail: 'Idempotency-Key (header): it was used with another request before; use a fresh key',
  headers: {},
}

/** `/run` and `/runsync`. */
export async function submit(core: EndpointCore, call: JobCall, request: Request): Promise<Response> {
  const limit = call.route.maxBodyBytes ?? 0
  const text = await readText(request, limit)
  if (text === null) return problemReply('payloadTooLarge', `request body exceeds ${limit} bytes`)
  const read = readSubmission(text, call.query.get('ttl'), core.settings.webhookAllow)
  if (!read.ok) return problemReply('badRequest', read.detail)
  const key = readIdempotencyKey(request.headers.get('idempotency-key'))
  if (!key.ok) return problemReply('badRequest', key.detail)
  const idempotency = key.key === null ? null : await identify(call, request, key.key, text)
  const sync = call.operation === 'runsync'
  const { submission } = read
  const waitMs = call.query.has('wait') ? readHoldMs(call.query.get('wait'), SYNC_WAIT_MS) : 0
  const sealedS3Config = submission.s3Config === null ? null : await core.seal.close(call.endpointId, submission.s3Config)
  const job: JobRequest = { submission, sync, waitMs, sealedS3Config }
  const outcome = await core.transact((effects) => acceptOnce(core, job, idempotency, effects))
  if ('refused' in outcome) return problemReply(outcome.refused.key, outcome.refused.detail, outcome.refused.headers)
  if ('repeatOf' in outcome) return sync ? repeatSync(core, outcome.repeatOf) : repeatRun(outcome.repeatOf)
  if (!sync) return jsonReply(queuedReply(outcome.job.id))
  return holdForRecord(core, { ...call, jobId: outcome.job.id }, request, () => jsonReply(timedOutRecord(core, outcome.job)))
}

async function identify(call: JobCall, request: Request, key: string, body: string): Promise<Idempotency> {
  const fingerprint = await sha256Hex(`${call.operation}\n${call.query.get('ttl') ?? ''}\n${body}`)
  return { userId: callerOf(request).userId, key, fingerprint }
}

/** Inside a transaction: the job and its key together, so that a repeat never finds one without the other (PP-72). */
function acceptOnce(core: EndpointCore, request: JobRequest, idempotency: Idempotency | null, effects: Effects): Outcome {
  if (!idempotency) return acceptJob(core, request, effects)
  const { userId, key, fingerprint } = idempotency
  const known = core.idempotency.find(userId, key)
  const verdict = judgeKey(known, fingerprint, core.now())
  if (verdict === 'misuse') return { refused: KEY_MISUSED }
  if (verdict === 'repeat' && known) return { repeatOf: known.jobId }
  const outcome = acceptJob(core, request, effects)
  if ('job' in outcome) core.idempotency.put(userId, key, { fingerprint, jobId: outcome.job.id, createdAtMs: outcome.job.createdAtMs })
  return outcome
}

function queuedReply(jobId: string): string {
  return `{"id":"${jobId}","status":"IN_QUEUE"}`
}

/** PP-72: the first answer again. */
function repeatRun(jobId: string): Response {
  return replayed(jsonReply(queuedReply(jobId)))
}

/** PP-72: the result, once there is one. While the first request waits for it, a second one has nothing to wait for. */
async function repeatSync(core: EndpointCore, jobId: string): Promise<Response> {
  const job = await core.findJob(jobId)
  if (!job) return jobNotFound()
  if (isTerminal(job.state)) return replayed(jsonReply(recordJson(core, job)))
  const detail = `Idempotency-Key (header): the first request under it is still running as job ${jobId}; wait for it or read its status`
  return problemReply('conflict', detail, { 'retry-after': '1' })
}

function replayed(reply: Response): Response {
  reply.headers.set('idempotency-replayed', 'true')
  return reply
}
