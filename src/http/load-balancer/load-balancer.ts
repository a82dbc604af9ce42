import { MAX_SERVED_BODY_BYTES } from '../../contract/endpoints/serving.ts'
import { Problem } from '../../contract/problems.ts'
import { hasScope } from '../../domain/access.ts'
import { headersForWorker } from '../../domain/balancer/headers.ts'
import { spenderName, spenderOf } from '../../domain/rate-limit.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import { ArrivingBody, noRoomForBody } from '../../effects/arriving-body.ts'
import { enterInFlight, inFlightUse } from '../../effects/in-flight.ts'
import { payerOf } from '../../effects/payer.ts'
import type { HeaderList, RequestTarget } from '../../host-protocol/tunnel/frames.ts'
import { ownQueue } from '../../objects/ownership/own-queue.ts'
import { failureOf, sendToWorkload } from '../../objects/tunnel/host-tunnel-calls.ts'
import { giveBackSlot, takeSlot } from '../../objects/tunnel/served-request.ts'
import type { TunnelFailure } from '../../rpc/host-tunnel.ts'
import { isExempt } from '../../services/accounts/rate-limit.ts'
import { authenticate } from '../../services/authenticate.ts'
import type { Principal } from '../../services/context.ts'
import { problemResponse } from '../answers/problem-response.ts'
import { answerOfWorkload, type Incoming, requirePath, type Serving, tooManyHeaders } from '../answers/workload-answer.ts'
import { authenticationProblem } from '../callers/authentication-problem.ts'
import { boundedFor } from '../callers/bounded-query.ts'
import { clientAddress } from '../callers/client-address.ts'
import { visitOf } from '../callers/session-headers.ts'
import { watchedSocket } from '../watched/watched-socket.ts'
import { answerWatchedByKey, watchedByKey } from '../watched/watched-stream.ts'
import { isPreflight, METHODS, preflightAnswer, readableAnywhere } from './preflight.ts'
import type { ServedCall } from './served-call.ts'

/** Largest body, in bytes, that is held in memory, so that it can go to another worker if the first one was unreachable. */
const MAX_HELD_BYTES = 64 * 1024
const MAX_TRIES = 3
/** Bytes of a body that are in memory at a time, however long the body is: its account is charged for at most this many (LB-11). */
const MAX_COUNTED_BYTES = 2 ** 20
const RETRY_SECONDS = '10'

/**
 * Handles a request to a load-balancing endpoint. Key, endpoint and size are checked here, the endpoint's object reserves a slot at a
 * worker, and the request goes through the tunnel of that worker's host; it never becomes a job of a queue.
 */
export async function handleServedCall(incoming: Incoming, call: ServedCall): Promise<Response> {
  if (isPreflight(incoming.request)) return preflightAnswer(incoming.request)
  const refuse = (problem: Problem) => readableAnywhere(problemResponse(problem, 'jobApi'))
  const worker = { what: 'worker', of: { endpointId: call.endpointId }, refuse } as const
  return answerOfWorkload(incoming, worker, (serving) => serve(serving, call))
}

async function serve(incoming: Serving, call: ServedCall): Promise<Response> {
  const { request, env, ctx } = incoming
  const principal = await callerOf(incoming)
  if (!METHODS.includes(request.method)) throw new Problem('methodNotAllowed', { headers: { Allow: METHODS.join(', ') } })
  if (!hasScope(principal.scopes, 'jobs:write', call.endpointId)) {
    throw new Problem('invalidToken', { detail: `this ${principal.via === 'SESSION' ? 'session' : 'key'} lacks the scope jobs:write` })
  }
  const endpoint = await ownQueue(env, principal, call.endpointId, Date.now(), boundedFor(principal))
  if (!endpoint) throw new Problem('notFound', { detail: 'endpoint not found' })
  requirePath(call.path)
  const breaks = new AbortController()
  const arriving = await admitBody(incoming, principal.teamId, breaks)
  const headers = workerHeaders(incoming, call)
  const body = arriving?.stream ?? (await holdSmall(request))
  const caller = { userId: spenderName(spenderOf(principal)), exempt: await isExempt(env, principal.teamId, Date.now()) }
  const account = await payerOf(env, principal.teamId, Date.now())
  const signal = arriving === null ? request.signal : AbortSignal.any([request.signal, breaks.signal])
  // LB-16: if the client leaves at this moment, the tunnel may never see the request and so never frees its slot. After a client has left,
  // only work that was registered with `waitUntil` before still runs.
  const carried = <T>(lease: string, step: Promise<T>): Promise<T> => {
    const giveBack = (error: unknown) => (error instanceof Problem ? undefined : giveBackSlot(env, endpoint, lease))
    ctx.waitUntil(step.then(() => undefined, giveBack))
    return step.catch((error: unknown) => {
      throw breaks.signal.aborted ? (arriving?.refusal ?? brokenOff()) : error
    })
  }
  for (let tries = 1; ; tries++) {
    const lease = crypto.randomUUID()
    const { slot, port, timeoutMs } = await carried(lease, takeSlot(env, endpoint, caller, lease, signal))
    const { hostId, ...ref } = slot
    const target = { ...targetOf(request, call, headers), workloadId: slot.workerId, port }
    const sent = sendToWorkload(env, hostId, {
      target,
      account,
      slot: ref,
      needs: null,
      beside: null,
      timeoutMs,
      isOwnOrigin: call.prefix === null,
      body,
      signal,
    })
    const answer = await carried(lease, sent)
    if (arriving?.refusal) throw arriving.refusal
    const failure = failureOf(answer)
    if (failure === null) return shown(answer, incoming, principal)
    // No part of the request has reached a worker, so another worker may take it.
    const isUnsent = failure.code === 'unreachable' && (body === null || body instanceof ArrayBuffer)
    if (!isUnsent || tries === MAX_TRIES) throw problemOf(failure)
  }
}

async function callerOf({ request, env, ctx }: Incoming): Promise<Principal> {
  const authentication = await authenticate(env, request.headers.get('authorization'), Date.now(), visitOf(request, ctx))
  if (!authentication.ok) throw authenticationProblem(authentication)
  return authentication.principal
}

/**
 * Counts the body of a call. A body without an announced length is counted as it arrives: use the returned `ArrivingBody` in its place;
 * `breaks` aborts if it does not arrive completely.
 */
async function admitBody({ request, env }: Incoming, teamId: string, breaks: AbortController): Promise<ArrivingBody | null> {
  if (request.body === null) return null
  const announced = announcedBytes(request.headers)
  if ((announced ?? 0) > MAX_SERVED_BODY_BYTES) {
    throw new Problem('payloadTooLarge', { detail: `request body exceeds ${MAX_SERVED_BODY_BYTES} bytes` })
  }
  const bytes = Math.min(announced ?? 0, MAX_COUNTED_BYTES)
  const nowMs = Date.now()
  const { used, bound } = await inFlightUse(env, teamId, nowMs)
  if (used + bytes > bound) throw noRoomForBody(used, bytes, bound)
  if (announced === null) {
    const bounds = { maxCountedBytes: MAX_COUNTED_BYTES, maxDrainedBytes: MAX_COUNTED_BYTES }
    return new ArrivingBody(request.body, { env, teamId, ...bounds, breaks })
  }
  enterInFlight(teamId, bytes, nowMs)
  return null
}

/** 400 for a client that has closed its half of the connection in the middle of its body (LB-1). */
function brokenOff(): Problem {
  return new Problem('badRequest', { detail: 'the request body ended early' })
}

async function holdSmall(request: Request): Promise<ReadableStream | ArrayBuffer | null> {
  const isSmall = (announcedBytes(request.headers) ?? Number.POSITIVE_INFINITY) <= MAX_HELD_BYTES
  return request.body !== null && isSmall ? await request.arrayBuffer() : request.body
}

function workerHeaders({ request, url, requestId }: Serving, call: ServedCall): HeaderList {
  const headers = headersForWorker(request.headers, {
    host: url.host,
    protocol: url.protocol.replace(':', ''),
    requestId,
    clientAddress: clientAddress(request),
    prefix: call.prefix,
    isChunked: request.body !== null && announcedBytes(request.headers) === null,
  })
  if (headers === null) throw tooManyHeaders()
  return headers
}

function targetOf(
  request: Request,
  { path }: ServedCall,
  headers: HeaderList,
): Pick<RequestTarget, 'kind' | 'method' | 'path' | 'headers'> {
  const isSocket = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
  return { kind: isSocket ? 'websocket' : 'http', method: request.method, path, headers }
}

// DER-42: event streams, WebSockets and answers last only as long as the key that requested them is valid.
function shown(answer: Response, { env, request }: Incoming, principal: Principal): Response {
  const authorization = request.headers.get('authorization')
  if (answer.webSocket) return watchedSocket(answer, env, authorization, principal)
  const isEvents = answer.headers.get('content-type')?.startsWith('text/event-stream')
  return (isEvents ? watchedByKey : answerWatchedByKey)(answer, env, authorization, principal)
}

function problemOf({ code, detail }: TunnelFailure): Problem {
  switch (code) {
    case 'unreachable':
      return new Problem('unavailable', {
        detail: `the request did not reach a worker: ${detail}`,
        headers: { 'Retry-After': RETRY_SECONDS },
      })
    case 'outdated':
      return new Problem('unavailable', { detail })
    case 'broken':
      return new Problem('badGateway', { detail: `the worker did not finish its response: ${detail}` })
    case 'late':
      return new Problem('timedOut', { detail })
    case 'too large':
      return new Problem('payloadTooLarge', { detail })
    default:
      return code satisfies never
  }
}
