import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { TLSSocket } from 'node:tls'
import { Slots } from '../slots.ts'
import type { RelayBounds } from './bounds.ts'

/** Longer than any long poll of the worker protocol (a worker times out after 90 s). */
const UPSTREAM_IDLE_MS = 120_000
const FORWARDED_HEADERS = ['authorization', 'content-type', 'user-agent'] as const

/** A request that the relay sends to the plane. */
export interface UpstreamRequest {
  /** The workload that sent the request. */
  caller: string
  method: string
  target: string
  headers: OutgoingHttpHeaders
  body?: Buffer
  /** Maximum idle time of the connection; when absent, longer than any long poll. */
  idleMs?: number
  /** Aborts the request in a way that the plane notices at once. */
  signal: AbortSignal
}

/** Minimum number of concurrent requests for each workload, however many there are. */
const LEAST_UPSTREAM = 8

/** Sends requests to the plane over kept-alive connections. */
export interface Upstream {
  send(request: UpstreamRequest): Promise<IncomingMessage>
  close(): void
}

type UpstreamBounds = Pick<RelayBounds, 'callerMaxUpstream' | 'maxUpstream'>

/** Connection to the plane over kept-alive connections, without a limit of its own. A request rejects when its signal aborts. */
export function createUpstream(planeUrl: string): Upstream {
  const plane = new URL(planeUrl)
  const secure = plane.protocol === 'https:'
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const prefix = plane.pathname.replace(/\/+$/, '')

  function send({ method, target, headers, body, idleMs, signal }: UpstreamRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Error('dropped before it was sent'))
      const options = { method, agent, headers, timeout: idleMs ?? UPSTREAM_IDLE_MS }
      const outgoing = (secure ? httpsRequest : httpRequest)(new URL(plane.origin + prefix + target), options)
      const drop = () => {
        // workerd notices a plain close (FIN) only when it writes; a reset shows at once that the take is gone.
        if (outgoing.socket !== null && !(outgoing.socket instanceof TLSSocket)) outgoing.socket.resetAndDestroy()
        outgoing.destroy(new Error('dropped'))
      }
      signal.addEventListener('abort', drop, { once: true })
      outgoing.on('close', () => signal.removeEventListener('abort', drop))
      outgoing.on('timeout', () => outgoing.destroy(new Error('the plane was silent for too long')))
      outgoing.on('error', reject)
      outgoing.on('response', resolve)
      outgoing.end(body)
    })
  }
  return { send, close: () => agent.destroy() }
}

/**
 * Limits the concurrent requests of each workload to its share, so that none waits for another's (HOST-76). A request rejects when its
 * caller leaves before its turn.
 */
export function shareUpstream(
  upstream: Upstream,
  { callerMaxUpstream, maxUpstream }: UpstreamBounds,
  countCallers: () => number,
): Upstream {
  const share = () => Math.min(callerMaxUpstream, Math.max(LEAST_UPSTREAM, Math.floor(maxUpstream / Math.max(1, countCallers()))))
  const places = new Slots(share)
  return {
    ...upstream,
    async send(request) {
      const leave = await places.enter(request.caller, request.signal)
      if (leave === undefined) throw new Error('dropped before it was sent')
      try {
        const reply = await upstream.send(request)
        return reply.once('close', leave)
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}

/** Returns only the headers that the worker protocol needs; cookies, forwarding headers and the like are not sent to the plane. */
export function pickHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of FORWARDED_HEADERS) {
    const value = headers[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}
