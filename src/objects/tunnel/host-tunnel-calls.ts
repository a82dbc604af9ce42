import type { Env } from '../../env.ts'
import { TUNNEL_ABILITIES_HEADER } from '../../host-protocol/tunnel/frames.ts'
import type { TunnelFailure, TunnelRequest } from '../../rpc/host-tunnel.ts'
import type { Owned } from '../owned.ts'
import { asPlane } from '../ownership/as-plane.ts'
import { hostTunnelStub } from '../stubs.ts'

const REQUEST_HEADER = 'x-podplane-tunnel'
const FAILURE_HEADER = 'x-podplane-failure'
const PLACEHOLDER_URL = 'https://tunnel/'
const BAD_GATEWAY = 502

/** Opens the tunnel of an agent whose access token has been checked. Of the agent's request only its abilities are passed on. */
export function openHostTunnel(env: Env, host: Owned<'host'>, serves: string | null): Promise<Response> {
  const headers = { upgrade: 'websocket', [TUNNEL_ABILITIES_HEADER]: serves ?? '' }
  return hostTunnelStub(env, host).fetch(new Request(PLACEHOLDER_URL, { headers }))
}

/** Sends a request to a workload of a host. The response may be a failure: see `failureOf`. */
export function sendToWorkload(
  env: Env,
  hostId: string,
  { body, signal, ...request }: TunnelRequest & { body: ReadableStream | ArrayBuffer | null; signal: AbortSignal },
): Promise<Response> {
  const headers = new Headers({ [REQUEST_HEADER]: encodeURIComponent(JSON.stringify(request)) })
  if (request.target.kind !== 'http') headers.set('upgrade', 'websocket')
  const init = { method: body === null ? 'GET' : 'POST', headers, body, signal }
  return hostTunnelStub(env, asPlane('host', hostId, 'forwards a request')).fetch(new Request(PLACEHOLDER_URL, init))
}

/** Reads the request that `sendToWorkload` wrote; null for an agent that opens its tunnel. Only the Worker calls the object. */
export function tunnelRequestOf(request: Request): TunnelRequest | null {
  const text = request.headers.get(REQUEST_HEADER)
  return text === null ? null : (JSON.parse(decodeURIComponent(text)) as TunnelRequest)
}

/** The response to a request that a workload has not answered. */
export function failed(failure: TunnelFailure): Response {
  return new Response(null, { status: BAD_GATEWAY, headers: { [FAILURE_HEADER]: encodeURIComponent(JSON.stringify(failure)) } })
}

/** The failure of a response; null for a workload's own response. A workload cannot fake one: the tunnel removes such a header. */
export function failureOf({ headers }: Response): TunnelFailure | null {
  const text = headers.get(FAILURE_HEADER)
  return text === null ? null : (JSON.parse(decodeURIComponent(text)) as TunnelFailure)
}
