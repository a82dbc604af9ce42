import { Hono } from 'hono'
import { endpointStub } from '../../durable-objects/stubs.ts'
import { type JobCall, parseJobCall } from '../contract/job-routes.ts'
import { Problem } from '../contract/problems.ts'
import { hasScope } from '../domain/access.ts'
import { logEvent } from '../log.ts'
import { authenticate, findEndpointTeam, type Principal } from '../services/authenticate.ts'
import { checkWorkerToken } from '../services/worker-token.ts'
import type { AppContext, AppEnv } from './app-env.ts'
import { problemResponse } from './problem-response.ts'

const RETRY_SECONDS = '5'
/** An oversize body is read to its end up to this size, so that its sender hears why; beyond it the connection is cut. */
const MAX_DRAINED_BYTES = 64 * 2 ** 20

/**
 * The queue-based job API and the worker protocol, `/v2/<endpoint>/<operation>`. The hot path: one key check from memory, one hop to the
 * endpoint's object, whose response passes straight through.
 */
export function jobApi(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.all('/:endpointId/*', handle)
  return app
}

async function handle(c: AppContext): Promise<Response> {
  const call = parseJobCall(new URL(c.req.url))
  try {
    await admit(c, call)
    if (!call) throw new Problem('pathNotFound')
    return await endpointStub(c.env, call.endpointId).fetch(c.req.raw)
  } catch (error) {
    return refuse(c, call, error)
  }
}

/** Size, key, path, method, scope, endpoint – in this order (ERR-6, LIM-2). */
async function admit(c: AppContext, call: JobCall | null): Promise<void> {
  const length = Number(c.req.header('content-length') ?? 0)
  const limit = call?.route.maxBodyBytes ?? null
  if (limit !== null && length > limit) return refuseOversize(c, length, limit)
  if (call?.route.caller === 'worker') return admitWorker(c, call)
  const principal = await requireKey(c)
  if (!call) throw new Problem('pathNotFound')
  checkMethod(c, call)
  // API-5: on the job API an under-privileged key is 401, not 403.
  if (call.route.scope && !hasScope(principal.scopes, call.route.scope, call.endpointId)) {
    throw new Problem('invalidToken', { detail: `this key lacks the scope ${call.route.scope}` })
  }
  const teamId = await findEndpointTeam(c.env, call.endpointId, Date.now())
  // A foreign endpoint is told apart from an unknown one by nothing (API-5).
  if (teamId !== principal.teamId) throw new Problem('notFound', { detail: 'endpoint not found' })
}

async function requireKey(c: AppContext): Promise<Principal> {
  const authentication = await authenticate(c.env, c.req.header('authorization') ?? null, Date.now(), (p) => c.executionCtx.waitUntil(p))
  if (!authentication.ok) throw new Problem(authentication.detail === 'missing bearer token' ? 'missingToken' : 'invalidToken')
  return authentication.principal
}

// A refusal before the body is read resets the connection, and most clients then never see the answer. So the body of a caller with a key
// is read to its end first; nobody else's is.
async function refuseOversize(c: AppContext, length: number, limit: number): Promise<never> {
  const known = await authenticate(c.env, c.req.header('authorization') ?? null, Date.now())
  if (known.ok && length <= MAX_DRAINED_BYTES) await c.req.raw.body?.pipeTo(new WritableStream())
  throw new Problem('payloadTooLarge', { detail: `request body exceeds ${limit} bytes` })
}

async function admitWorker(c: AppContext, call: JobCall): Promise<void> {
  const known = await checkWorkerToken(c.env, call.endpointId, call.workerId, c.req.header('authorization') ?? null)
  if (!known) throw new Problem('invalidToken', { detail: 'worker key is missing or wrong' })
  checkMethod(c, call)
}

function checkMethod(c: AppContext, call: JobCall): void {
  const { methods } = call.route
  if (methods.includes(c.req.method)) return
  throw new Problem('methodNotAllowed', { headers: { Allow: methods.join(', ') } })
}

function refuse(c: AppContext, call: JobCall | null, error: unknown): Response {
  if (!(error instanceof Problem)) {
    logEvent('error', 'job call failed', { requestId: c.var.requestId, operation: call?.operation, error })
  }
  // WRK-7: whatever is wrong, a worker's poll is never answered by a fast error: 429 is the one status it backs off on.
  const isPoll = call?.operation === 'job-take' || call?.operation === 'job-take-batch' || call?.operation === 'job-stop'
  if (isPoll) {
    const detail = error instanceof Problem ? error.detail : 'the endpoint cannot answer right now'
    return problemResponse(new Problem('rateLimited', { detail, headers: { 'Retry-After': RETRY_SECONDS } }), { jobApi: true })
  }
  return problemResponse(error instanceof Problem ? error : new Problem('internal', { cause: error }), { jobApi: true })
}
