import type { ClientCall, LimitBucket } from '../../../src/contract/jobs/job-routes.ts'
import { type Caller, callerOf } from '../../../src/rpc/caller.ts'
import type { PlainReply } from '../../../src/rpc/plain-reply.ts'
import { type Entry, holdToEnd } from '../call-limits.ts'
import { refusal } from '../openai/openai-outcome.ts'
import type { Clock, Limits, Rows } from '../parts.ts'
import { plainProblem, problemReply } from '../replies.ts'
import { type ClientParts, clientOperation } from './client-operations.ts'

/** Operations that an endpoint without a queue supports (LB-14). */
const WITHOUT_QUEUE: readonly string[] = ['health', 'metrics']
const NO_QUEUE = 'a load-balancing endpoint has no jobs; send requests to its requestUrls.base'

/** Runs a call of the client job API, within its caller's limits (LIM-1). */
export async function clientCall(core: ClientParts & Limits, call: ClientCall, request: Request): Promise<Response> {
  const refuse = call.operation === 'openai' ? refusal : problemReply
  if (!hasQueue(core) && !WITHOUT_QUEUE.includes(call.operation)) return refuse('badRequest', NO_QUEUE)
  const operation = () => clientOperation(core, call, request)
  const entry = call.route.bucket && enter(core, call.route.bucket, callerOf(request))
  if (!entry) return operation()
  if (!entry.refusal) return holdToEnd(entry.release, operation, request.signal)
  return refuse(entry.refusal.key, entry.refusal.detail, entry.refusal.headers)
}

/** The same for plain data over RPC (adr/0010). */
export async function plainCall<Reply extends PlainReply | null>(
  core: Clock & Limits & Rows,
  bucket: LimitBucket,
  caller: Caller,
  operation: () => Promise<Reply>,
): Promise<Reply | PlainReply> {
  if (!core.config()) return plainProblem('notFound', 'endpoint not found')
  if (!hasQueue(core)) return plainProblem('badRequest', NO_QUEUE)
  const entry = enter(core, bucket, caller)
  if (entry?.refusal) return plainProblem(entry.refusal.key, entry.refusal.detail, entry.refusal.headers)
  try {
    return await operation()
  } finally {
    entry?.release()
  }
}

function hasQueue(core: Rows): boolean {
  return core.config()?.type !== 'LOAD_BALANCER'
}

/** Takes a concurrency slot; null for a caller without limits. */
function enter(core: Clock & Limits & Rows, bucket: LimitBucket, { userId, exempt }: Caller): Entry | null {
  return exempt ? null : core.limits.enter(bucket, userId, core.now(), () => core.state.workers.readyCount())
}
