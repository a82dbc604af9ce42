import { type JobCall, parseJobCall } from '../../contract/jobs/job-routes.ts'
import { Problem } from '../../contract/problems.ts'
import { hasScope } from '../../domain/access.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import { drainRefused } from '../../effects/in-flight.ts'
import { ownByWorkerToken } from '../../effects/worker-token.ts'
import type { Env } from '../../env.ts'
import { type Admitted, callEndpoint } from '../../objects/endpoint-calls.ts'
import { type BoundedLook, ownQueue } from '../../objects/own-queue.ts'
import { logEvent } from '../../platform/log.ts'
import { authenticate } from '../../services/accounts/authenticate.ts'
import { lookUpFor } from '../../services/accounts/lookups.ts'
import { isExempt } from '../../services/accounts/rate-limit.ts'
import type { Principal } from '../../services/context.ts'
import { authenticationProblem } from '../authentication-problem.ts'
import { clientSource } from '../client-address.ts'
import { problemResponse } from '../problem-response.ts'
import { requestIdOf } from '../request-id.ts'
import { watchedByKey } from '../watched-stream.ts'
import { countBody } from './in-flight-body.ts'

const RETRY_SECONDS = '5'
const NO_SNIFFING = 'x-content-type-options'

/** What a job call carries through its checks. */
interface Incoming {
  request: Request
  env: Env
  ctx: ExecutionContext
}

/**
 * The queue-based job API and the worker protocol, `/v2/<endpoint>/<operation>`. The hot path, so it stands before the router: one key
 * check from memory, one hop to the endpoint's object, whose response passes straight through.
 */
export async function handleJobCall(request: Request, url: URL, env: Env, ctx: ExecutionContext): Promise<Response> {
  const call = parseJobCall(url)
  try {
    const admitted = await admit({ request, env, ctx }, call)
    if (!call) throw new Problem('pathNotFound')
    const response = await callCounted({ request, env, ctx }, call, admitted)
    const isStream = admitted.caller !== null && response.headers.get('content-type')?.startsWith('text/event-stream')
    return ofItsType(isStream ? watchedByKey(response, env, request.headers.get('authorization')) : response)
  } catch (error) {
    return ofItsType(refuse(request, call, error))
  }
}

// PP-225: what a worker made is shown as the type that it has, whatever it looks like. What came from another isolate has headers that cannot be set.
function ofItsType(response: Response): Response {
  try {
    response.headers.set(NO_SNIFFING, 'nosniff')
    return response
  } catch {
    const copy = new Response(response.body, response)
    copy.headers.set(NO_SNIFFING, 'nosniff')
    return copy
  }
}

async function callCounted({ request, env }: Incoming, call: JobCall, admitted: AdmittedCall): Promise<Response> {
  if (admitted.teamId !== null) await countBody(env, request, admitted.teamId, call.route.maxBodyBytes ?? 0)
  return callEndpoint(env, request, call, admitted)
}

/** What was admitted, and with whose bodies under way its own counts. Null: a worker's, which its queue has asked for. */
type AdmittedCall = Admitted & { teamId: string | null }

/** Size, key, path, method, scope, endpoint – in this order (ERR-6, LIM-2). */
async function admit(incoming: Incoming, call: JobCall | null): Promise<AdmittedCall> {
  const length = announcedBytes(incoming.request.headers) ?? 0
  const limit = call?.route.maxBodyBytes ?? null
  if (limit !== null && length > limit) return refuseOversize(incoming, length, limit)
  if (call?.route.caller === 'worker') return admitWorker(incoming, call)
  const principal = await requireKey(incoming)
  if (!call) throw new Problem('pathNotFound')
  checkMethod(incoming, call)
  // API-5: on the job API an under-privileged key is 401, not 403.
  if (call.route.scope && !hasScope(principal.scopes, call.route.scope, call.endpointId)) {
    throw new Problem('invalidToken', { detail: `this key lacks the scope ${call.route.scope}` })
  }
  // A foreign endpoint is told apart from an unknown one by nothing (API-5).
  const endpoint = await ownQueue(incoming.env, principal, call.endpointId, Date.now(), boundedFor(principal))
  if (!endpoint) throw new Problem('notFound', { detail: 'endpoint not found' })
  return {
    teamId: principal.teamId,
    endpoint,
    caller: { userId: principal.userId, exempt: await isExempt(incoming.env, principal.teamId, Date.now()) },
  }
}

// Endpoints that a key has called are not looked for, so its other calls go on.
function boundedFor({ via, credentialId }: Principal): BoundedLook {
  return async (look) => {
    const lookup = await lookUpFor(`endpoints of ${via} ${credentialId}`, Date.now(), async () => ((await look()) ? true : null))
    if (!('waitSeconds' in lookup)) return lookup.found !== null
    const detail = `too many unknown endpoints were named with this key; try again in ${lookup.waitSeconds} seconds`
    throw new Problem('rateLimited', { detail, headers: { 'Retry-After': String(lookup.waitSeconds) } })
  }
}

async function requireKey(incoming: Incoming): Promise<Principal> {
  const { request, env, ctx } = incoming
  const authentication = await authenticate(env, request.headers.get('authorization'), Date.now(), {
    source: () => clientSource(request),
    waitUntil: (promise) => ctx.waitUntil(promise),
  })
  if (!authentication.ok) throw authenticationProblem(authentication)
  return authentication.principal
}

// A refusal before the body is read resets the connection, and most clients then never see the answer. So the body of a caller with a key
// is read to its end first, within what is read of refused bodies at all (PP-207); nobody else's is.
async function refuseOversize(incoming: Incoming, length: number, limit: number): Promise<never> {
  const principal = await requireKey(incoming).catch(() => null)
  if (principal) await drainRefused(incoming.request.body, principal.teamId, length, Date.now())
  throw new Problem('payloadTooLarge', { detail: `request body exceeds ${limit} bytes` })
}

async function admitWorker(incoming: Incoming, call: JobCall): Promise<AdmittedCall> {
  const endpoint = await ownByWorkerToken(incoming.env, call.endpointId, call.workerId, incoming.request.headers.get('authorization'))
  if (!endpoint) throw new Problem('invalidToken', { detail: 'worker key is missing or wrong' })
  checkMethod(incoming, call)
  return { endpoint, caller: null, teamId: null }
}

function checkMethod(incoming: Incoming, call: JobCall): void {
  const { methods } = call.route
  if (methods.includes(incoming.request.method)) return
  throw new Problem('methodNotAllowed', { headers: { Allow: methods.join(', ') } })
}

function refuse(request: Request, call: JobCall | null, error: unknown): Response {
  if (!(error instanceof Problem)) {
    logEvent('error', 'job call failed', {
      requestId: requestIdOf(request),
      operation: call?.operation,
      endpointId: call?.endpointId,
      error,
    })
  }
  // WRK-7: whatever is wrong, a worker's poll is never answered by a fast error: 429 is the one status it backs off on.
  const isPoll = call?.operation === 'job-take' || call?.operation === 'job-take-batch' || call?.operation === 'job-stop'
  if (isPoll) {
    const detail = error instanceof Problem ? error.detail : 'the endpoint cannot answer right now'
    return problemResponse(new Problem('rateLimited', { detail, headers: { 'Retry-After': RETRY_SECONDS } }), 'jobApi')
  }
  const problem = error instanceof Problem ? error : new Problem('internal', { cause: error })
  return problemResponse(problem, call?.operation === 'openai' ? 'openai' : 'jobApi')
}
