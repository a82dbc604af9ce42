import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { TAKE_AGAIN_HEADER } from '../../host-protocol/delivery.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import type { RelayBounds } from './bounds.ts'
import type { RelayRoute } from './routes.ts'
import type { Upstream } from './upstream.ts'

/** A poll of a worker that the relay sends to the plane, and repeats. */
export interface RelayedPoll {
  caller: string
  /** Whether the poll has been sent before, and its answer may be lost (LSE-30). */
  again: boolean
  /** Computed for every attempt, because the results on disk change meanwhile. */
  route(): Pick<RelayRoute, 'method' | 'target'>
  headers: OutgoingHttpHeaders
  /** The plane has answered, and the answer is about to be sent to the worker. */
  onAnswer(status: number): void
}

/**
 * Relays a take or stop poll. While the plane cannot be reached, the poll is held and retried, and finally answered 204: after any fast
 * error a stock worker polls again at once, a thousand times a second.
 */
export async function relayPoll(
  upstream: Upstream,
  bounds: RelayBounds,
  { caller, again, route, headers, onAnswer }: RelayedPoll,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + bounds.pollHoldMs
  for (let attempt = 0; !gone.aborted; attempt += 1) {
    const sent = attempt === 0 && !again ? headers : { ...headers, [TAKE_AGAIN_HEADER]: '1' }
    const reply = await upstream.send({ caller, ...route(), headers: sent, signal: gone }).catch(() => undefined)
    if (reply !== undefined && reply.statusCode !== undefined && reply.statusCode < 500) {
      onAnswer(reply.statusCode)
      return await passOn(reply, response)
    }
    reply?.resume()
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) break
    await sleep(Math.min(leftMs, backoffMs(attempt, bounds.retryBaseMs, bounds.retryMaxMs)), gone)
  }
  if (!gone.aborted) response.writeHead(204).end()
}

async function passOn(reply: IncomingMessage, response: ServerResponse): Promise<void> {
  const status = reply.statusCode ?? 502
  // 429 is the only answer that makes a stock worker wait before it polls again.
  response.statusCode = status >= 400 && status !== 429 ? 429 : status
  copyHeaders(reply.headers, response)
  await pipeline(reply, response)
}

/** Copies the headers that workers read from an answer of the plane. */
export function copyHeaders(headers: IncomingMessage['headers'], response: ServerResponse): void {
  for (const name of ['content-type', 'content-length', 'content-encoding', 'retry-after'] as const) {
    const value = headers[name]
    if (value !== undefined) response.setHeader(name, value)
  }
}
