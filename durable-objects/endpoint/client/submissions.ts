import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import { WaitQuery } from '../../../src/contract/jobs/queries.ts'
import { readIdempotencyKey } from '../../../src/domain/idempotency.ts'
import { isTerminal } from '../../../src/domain/job/job.ts'
import { readSubmission } from '../../../src/domain/job/submit.ts'
import { webhookAllowOfBody } from '../../../src/effects/webhook-allow.ts'
import { sha256Hex } from '../../../src/platform/crypto.ts'
import { type Accepted, acceptOnce, type Idempotency, type JobRequest, type Refused } from '../../../src/queue/accept.ts'
import { callerOf } from '../../../src/rpc/caller.ts'
import type { SubmitCall } from '../../../src/rpc/endpoint.ts'
import { jsonReply, type PlainReply, toResponse } from '../../../src/rpc/plain-reply.ts'
import type { Commits, Outside, Room, Rows, Secrets } from '../parts.ts'
import { jobNotFound, plainJson, plainProblem, problemReply, readText } from '../replies.ts'
import { s3ConfigSealPlace } from '../s3-config-seal.ts'
import { type HoldParts, holdForRecord } from './client-reads.ts'
import { owedRecordReply, type RecordParts, recordReply } from './record-reply.ts'

/** Parts that a submission uses. */
export type SubmitParts = Commits & Outside & Room & Rows & Secrets

type Outcome = Accepted | { repeatOf: string }

const REPLAYED = { 'idempotency-replayed': 'true' }

/** `/runsync`, and `/run` with a body too large for `run`. */
export async function submit(core: HoldParts & SubmitParts, call: JobCall, request: Request): Promise<Response> {
  const limit = call.route.maxBodyBytes ?? 0
  const body = await readText(request, limit)
  if (body === null) return problemReply('payloadTooLarge', `request body exceeds ${limit} bytes`)
  const submitCall: SubmitCall = {
    endpointId: call.endpointId,
    operation: call.operation === 'runsync' ? 'runsync' : 'run',
    userId: callerOf(request).userId,
    body,
    ttl: call.query.get('ttl'),
    wait: call.query.get('wait'),
    idempotencyKey: request.headers.get('idempotency-key'),
  }
  if (submitCall.operation === 'run') return toResponse(await run(core, submitCall))
  const outcome = await readAndAccept(core, submitCall)
  if ('refused' in outcome) return toResponse(plainRefusal(outcome.refused))
  if ('repeatOf' in outcome) return repeatSync(core, outcome.repeatOf, request.signal)
  return holdForRecord(core, { ...call, jobId: outcome.job.id }, request, jsonReply, owedRecordReply)
}

/** `/run`. */
export async function run(core: SubmitParts, call: SubmitCall): Promise<PlainReply> {
  const outcome = await readAndAccept(core, call)
  if ('refused' in outcome) return plainRefusal(outcome.refused)
  // RUN-13: a repeated request gets the first reply again.
  if ('repeatOf' in outcome) return plainJson(queuedReply(outcome.repeatOf), REPLAYED)
  return queuedReply(outcome.job.id)
}

async function readAndAccept(core: SubmitParts, call: SubmitCall): Promise<Outcome> {
  const read = readSubmission(call.body, call.ttl, await webhookAllowOfBody(core.env, call.endpointId, call.body))
  if (!read.ok) return { refused: { key: 'badRequest', detail: read.detail, headers: {} } }
  const key = readIdempotencyKey(call.idempotencyKey)
  if (!key.ok) return { refused: { key: 'badRequest', detail: key.detail, headers: {} } }
  const idempotency = key.key === null ? null : await identify(call, key.key)
  const { submission } = read
  const job: JobRequest = {
    submission,
    sync: call.operation === 'runsync',
    waitMs: call.wait === null ? 0 : WaitQuery.shape.wait.parse(call.wait),
    sealS3Config: sealerOf(core, call.endpointId, submission.s3Config),
  }
  const config = core.config()
  const refused = config && (await core.grant.take(config, call.body.length))
  if (refused) return { refused }
  return core.transact((tx) => acceptOnce(tx, job, idempotency))
}

// The sealed value is bound to the job id, which is known only in the commit.
function sealerOf(core: Secrets, endpointId: string, s3Config: string | null): JobRequest['sealS3Config'] {
  return s3Config === null ? null : (jobId) => core.vault.seal(s3ConfigSealPlace(endpointId, jobId), s3Config)
}

function plainRefusal({ key, detail, headers }: Refused): PlainReply {
  return plainProblem(key, detail, headers)
}

async function identify({ operation, ttl, body, userId }: SubmitCall, key: string): Promise<Idempotency> {
  return { userId, key, fingerprint: await sha256Hex(`${operation}\n${ttl ?? ''}\n${body}`) }
}

function queuedReply(jobId: string): string {
  return `{"id":"${jobId}","status":"IN_QUEUE"}`
}

/** RUN-13: the result of the first request if it is terminal; 409 while the first request is still waiting for it. */
async function repeatSync(core: RecordParts, jobId: string, signal: AbortSignal): Promise<Response> {
  const job = await core.findJob(jobId)
  if (!job) return jobNotFound()
  if (isTerminal(job.state)) return recordReply(core, job, signal, REPLAYED)
  const detail = `Idempotency-Key (header): the first request under it is still running as job ${jobId}; wait for it or read its status`
  return problemReply('conflict', detail, { 'retry-after': '1' })
}
