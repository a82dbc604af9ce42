import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { backoffMs, sleep } from './backoff.ts'
import type { RelayBounds } from './relay-bounds.ts'
import { copyHeaders } from './relay-poll.ts'
import type { RelayRoute } from './relay-routes.ts'
import type { Upstream } from './relay-upstream.ts'

export class BodyTooLarge extends Error {}

/** Reads a result completely before it is offered to the plane, because it may have to be offered again. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Not destroyed on refusal: the connection is still needed for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new BodyTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

/**
 * Offers a result until the plane takes it. `closing` ends that early, but not the worker's disconnection: the result is
 * complete, and a worker that was killed meanwhile must not take it along.
 */
export async function deliverPost(
  upstream: Upstream,
  bounds: RelayBounds,
  route: RelayRoute,
  headers: OutgoingHttpHeaders,
  body: Buffer,
  closing: AbortSignal,
): Promise<{ reply: IncomingMessage; text: Buffer } | undefined> {
  const deadline = performance.now() + bounds.deliverMs
  for (let attempt = 0; !closing.aborted; attempt += 1) {
    const answer = await offer(upstream, route, headers, body, closing)
    if (answer !== undefined && (answer.reply.statusCode ?? 500) < 500) return answer
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) break
    await sleep(Math.min(leftMs, backoffMs(attempt, bounds.retryBaseMs, bounds.retryMaxMs)), closing)
  }
  return undefined
}

async function offer(upstream: Upstream, route: RelayRoute, headers: OutgoingHttpHeaders, body: Buffer, signal: AbortSignal) {
  try {
    const reply = await upstream.send({ ...route, headers: { ...headers, 'content-length': body.length }, body, signal })
    return { reply, text: await buffer(reply) }
  } catch {
    return undefined
  }
}

export function answerPost(response: ServerResponse, answer: { reply: IncomingMessage; text: Buffer } | undefined): void {
  if (response.destroyed) return
  if (answer === undefined) {
    response.writeHead(502, { 'content-type': 'application/json' }).end('{"error":"the plane did not take the result in time"}')
    return
  }
  response.statusCode = answer.reply.statusCode ?? 502
  copyHeaders(answer.reply, response)
  response.removeHeader('content-length')
  response.end(answer.text)
}
