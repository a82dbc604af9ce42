import { MALFORMED_WEIGHT } from '../../contract/accounts/budgets.ts'
import { isPoll, type JobCall, parseJobCall } from '../../contract/jobs/job-routes.ts'
import { Problem } from '../../contract/problems.ts'
import { hasScope } from '../../domain/access.ts'
import { isDryRunAsked } from '../../domain/plan/dry-run.ts'
import { spenderName, spenderOf } from '../../domain/rate-limit.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import { drainRefused } from '../../effects/in-flight.ts'
import { isKnownFull } from '../../effects/storage.ts'
import { ownByWorkerToken } from '../../effects/workers/worker-token.ts'
import type { Env } from '../../env.ts'
import { type Admitted, callEndpoint } from '../../objects/endpoint-calls.ts'
import { ownQueue } from '../../objects/ownership/own-queue.ts'
import { logEvent } from '../../platform/log.ts'
import { countedBy } from '../../rpc/counted.ts'
import { isExempt } from '../../services/accounts/rate-limit.ts'
import { causeOf } from '../../services/audit.ts'
import { authenticate } from '../../services/authenticate.ts'
import type { Principal } from '../../services/context.ts'
import { problemResponse, storageFull, toProblemOf } from '../answers/problem-response.ts'
import { REQUEST_ID_HEADER, requestIdOf } from '../answers/request-id.ts'
import { authenticationProblem } from '../callers/authentication-problem.ts'
import { boundedFor } from '../callers/bounded-query.ts'
import { credentialOf, markPrivate } from '../callers/console-credential.ts'
import { ACCOUNT_HEADER, accountToName, visitOf } from '../callers/session-headers.ts'
import { countBody } from '../middleware/in-flight-body.ts'
import { NO_PLAN } from '../middleware/refuse-dry-run.ts'
import { watchedByKey } from '../watched/watched-stream.ts'

const RETRY_SECONDS = '5'
const NO_SNIFFING = 'x-content-type-options'
const BAD_REQUEST = 400

/** State of a job call during its checks. */
interface Incoming {
  request: Request
  env: Env
  ctx: ExecutionContext
  requestId: string
  /** The caller, once authenticated; null for a worker. */
  principal: Principal | null
}

/**
 * Handles the job API of queues and the worker protocol, `/v2/<endpoint>/<operation>`. As the hot path it runs before the router: one key
 * check from memory, one hop to the endpoint's Durable Object, whose response passes through unchanged. Throws 404 for a path that is no
 * operation.
 */
export async function handleJobCall(request: Request, url: URL, env: Env, ctx: ExecutionContext): Promise<Response> {
  const call = parseJobCall(url)
  const incoming: Incoming = { request, env, ctx, requestId: requestIdOf(request), principal: null }
  try {
    const response = call ? await callCounted(incoming, call, await admit(incoming, call)) : await refusePath(incoming)
    return labelled(watched(response, incoming), incoming)
  } catch (error) {
    return labelled(await refuse(incoming, call, error), incoming)
  }
}

function watched(response: Response, { request, env, principal }: Incoming): Response {
  if (principal === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response
  return watchedByKey(response, env, credentialOf(request), principal)
}

// The headers of a response from another isolate are immutable, so the fallback copies the response.
function labelled(response: Response, incoming: Incoming): Response {
  try {
    setLabels(response.headers, incoming)
    return response
  } catch {
    const copy = new Response(response.body, response)
    setLabels(copy.headers, incoming)
    return copy
  }
}

// API-30: `nosniff` makes browsers show a worker's output as its declared type, whatever its bytes look like.
function setLabels(headers: Headers, { request, requestId, principal }: Incoming): void {
  headers.set(REQUEST_ID_HEADER, requestId)
  headers.set(NO_SNIFFING, 'nosniff')
  const account = accountToName(principal ?? undefined)
  if (account !== null) headers.set(ACCOUNT_HEADER, account)
  if (principal !== null) markPrivate(request, headers)
}

/** Calls the endpoint and counts the caller's body while the call runs. A worker's body does not count, because the queue asked for it. */
async function callCounted({ request, env, principal }: Incoming, call: JobCall, admitted: Admitted): Promise<Response> {
  if (principal === null) return callEndpoint(env, request, call, admitted)
  const body = await countBody(env, request, principal.teamId, call.route.maxBodyBytes ?? 0)
  const answer = await callEndpoint(env, body.request, call, admitted).catch((error: unknown) => {
    throw body.refusal() ?? error
  })
  const refusal = body.refusal()
  if (refusal !== null) throw refusal
  const counted = body.counted()
  if (counted !== null && answer.status === BAD_REQUEST) counted.bytes *= MALFORMED_WEIGHT
  return answer
}

/** Refuses a path that no operation has, after the check of the key (ERR-6). */
async function refusePath(incoming: Incoming): Promise<never> {
  await requireCaller(incoming)
  throw new Problem('pathNotFound')
}

/** Checks size, key, method, scope and endpoint, in this order (ERR-6, LIM-2). */
async function admit(incoming: Incoming, call: JobCall): Promise<Admitted> {
  const length = announcedBytes(incoming.request.headers) ?? 0
  const limit = call.route.maxBodyBytes
  if (limit !== null && length > limit) return refuseOversize(incoming, length, limit)
  if (call.route.caller === 'worker') return admitWorker(incoming, call)
  const principal = await requireCaller(incoming)
  checkMethod(incoming, call)
  checkPlan(call)
  // API-5: on the job API a key without the scope is 401, not 403.
  if (call.route.scope && !hasScope(principal.scopes, call.route.scope, call.endpointId)) {
    throw new Problem('invalidToken', {
      detail: `this ${principal.via === 'SESSION' ? 'session' : 'key'} lacks the scope ${call.route.scope}`,
    })
  }
  if (call.route.addsWork && isKnownFull(incoming.env, Date.now(), (work) => incoming.ctx.waitUntil(work))) throw storageFull()
  // An endpoint of another account and an unknown one give the same answer (API-5).
  const endpoint = await ownQueue(incoming.env, principal, call.endpointId, Date.now(), boundedFor(principal))
  if (!endpoint) throw new Problem('notFound', { detail: 'endpoint not found' })
  return {
    endpoint,
    caller: {
      userId: spenderName(spenderOf(principal)),
      exempt: await isExempt(incoming.env, principal.teamId, Date.now()),
      ...(call.route.isAudited && { cause: causeOf({ principal, requestId: incoming.requestId, counted: countedBy('jobLimits') }) }),
    },
  }
}

async function requireCaller(incoming: Incoming): Promise<Principal> {
  const { request, env, ctx } = incoming
  const authentication = await authenticate(env, credentialOf(request), Date.now(), visitOf(request, ctx))
  if (!authentication.ok) throw authenticationProblem(authentication)
  incoming.principal = authentication.principal
  return authentication.principal
}

// A refusal before the body is read resets the connection, and most clients then never see the answer. So the body of a caller with a key
// is read to its end first, within the bound for refused bodies (BUDGET-4). Bodies without a valid key, or with the key of a pod, which has
// no jobs (CAP-1), are not read.
async function refuseOversize(incoming: Incoming, length: number, limit: number): Promise<never> {
  const principal = await requireCaller(incoming).catch(() => null)
  if (principal && principal.via !== 'POD') await drainRefused(incoming.request.body, principal.teamId, length, Date.now())
  throw new Problem('payloadTooLarge', { detail: `request body exceeds ${limit} bytes` })
}

async function admitWorker(incoming: Incoming, call: JobCall): Promise<Admitted> {
  const endpoint = await ownByWorkerToken(incoming.env, call, incoming.request.headers.get('authorization'))
  if (!endpoint) throw new Problem('invalidToken', { detail: 'worker key is missing or wrong' })
  checkMethod(incoming, call)
  return { endpoint, caller: null }
}

function checkMethod(incoming: Incoming, call: JobCall): void {
  const { methods } = call.route
  if (methods.includes(incoming.request.method)) return
  throw new Problem('methodNotAllowed', { headers: { Allow: methods.join(', ') } })
}

// DRY-30: an operation that changes something and has no plan refuses `dryRun`. The query of a path behind `openai` belongs to the worker.
function checkPlan({ route, operation, query }: JobCall): void {
  if (route.scope !== 'jobs:write' || route.isPlannable || operation === 'openai') return
  if (isDryRunAsked(query.getAll('dryRun'))) throw new Problem('badRequest', { detail: NO_PLAN })
}

async function refuse({ env, requestId }: Incoming, call: JobCall | null, error: unknown): Promise<Response> {
  if (!(error instanceof Problem)) {
    logEvent('error', 'job call failed', {
      requestId,
      operation: call?.operation,
      endpointId: call?.endpointId,
      error,
    })
  }
  // WRK-7: a worker's poll is never answered by a fast error. 429 is the one status on which worker SDKs back off.
  if (call && isPoll(call)) {
    const detail = error instanceof Problem ? error.detail : 'the endpoint is temporarily unavailable'
    return problemResponse(new Problem('rateLimited', { detail, headers: { 'Retry-After': RETRY_SECONDS } }), 'jobApi')
  }
  return problemResponse(await toProblemOf(env, error), call?.operation === 'openai' ? 'openai' : 'jobApi')
}
