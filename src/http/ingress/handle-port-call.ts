import { MAX_SERVED_BODY_BYTES } from '../../contract/endpoints/serving.ts'
import { Problem } from '../../contract/problems.ts'
import { headersForWorker } from '../../domain/balancer/headers.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import { payerOf } from '../../effects/payer.ts'
import type { HeaderList } from '../../host-protocol/tunnel/frames.ts'
import { failureOf, sendToWorkload } from '../../objects/tunnel/host-tunnel-calls.ts'
import { podProblem, within } from '../../services/pods/ingress/channels.ts'
import { findHttpPort } from '../../services/pods/ingress/http-port.ts'
import { problemResponse } from '../answers/problem-response.ts'
import { answerOfWorkload, type Incoming, requirePath, type Serving, tooManyHeaders } from '../answers/workload-answer.ts'
import { clientAddress, clientSource } from '../callers/client-address.ts'
import { ownAddress, type PortCall, redirectTo } from './port-call.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'REPORT', 'MKCOL', 'COPY', 'MOVE']
/** Timeout of an answer, milliseconds; the value is given by the API that this plane reimplements (NET-1). */
const ANSWER_MS = 100_000
/**
 * Most concurrent requests to one pod. Its terminals, and the other pods of its account on the host, share the account's streams (SHR-30).
 */
const MAX_VISITS = 128
/** Scripts of a pod's page run with an opaque origin: they have no access to the plane's pages or those of another pod. */
const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads'

/**
 * Handles a request to an HTTP port of a pod, through the tunnel of its host (NET-1, NET-11 to NET-15). A request below the plane's address
 * is redirected if pods have their own host names.
 */
export async function handlePortCall(incoming: Incoming, call: PortCall, domain: string | null): Promise<Response> {
  const elsewhere = ownAddress(call, incoming.url, incoming.request.headers, domain)
  if (elsewhere !== null) return redirectTo(elsewhere)
  const pod = { what: 'pod', of: { podId: call.podId }, refuse: problemResponse } as const
  return answerOfWorkload(incoming, pod, (serving) => visit(serving, call))
}

async function visit({ request, url, env, requestId }: Serving, call: PortCall): Promise<Response> {
  if (!METHODS.includes(request.method)) throw new Problem('methodNotAllowed', { headers: { Allow: METHODS.join(', ') } })
  const pod = await findHttpPort(env, call.podId, call.port, clientSource(request), Date.now())
  if ((announcedBytes(request.headers) ?? 0) > MAX_SERVED_BODY_BYTES) {
    throw new Problem('payloadTooLarge', { detail: `request body exceeds ${MAX_SERVED_BODY_BYTES} bytes` })
  }
  const isSocket = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
  const { port, path, prefix } = call
  requirePath(path)
  const target = {
    kind: isSocket ? 'websocket' : 'http',
    port,
    method: request.method,
    path,
    headers: podHeaders({ request, url, requestId }, prefix),
  } as const
  const answer = await sendToWorkload(env, pod.hostId, {
    target: within(pod, target),
    account: await payerOf(env, pod.teamId, Date.now()),
    slot: null,
    needs: 'pods',
    beside: MAX_VISITS,
    timeoutMs: ANSWER_MS,
    isOwnOrigin: prefix === null,
    sandbox: SANDBOX,
    body: request.body,
    signal: request.signal,
  })
  const failure = failureOf(answer)
  if (failure !== null) throw podProblem(failure)
  return answer
}

// Below the plane's own address `Authorization` is dropped, because a browser would send credentials that are meant for the plane.
function podHeaders({ request, url, requestId }: Pick<Serving, 'request' | 'url' | 'requestId'>, prefix: string | null): HeaderList {
  const headers = headersForWorker(request.headers, {
    host: url.host,
    protocol: url.protocol.replace(':', ''),
    requestId,
    clientAddress: clientAddress(request),
    prefix,
    isChunked: request.body !== null && announcedBytes(request.headers) === null,
    passesAuthorization: prefix === null,
  })
  if (headers === null) throw tooManyHeaders()
  return headers
}
