import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { backoffMs, sleep } from './backoff.ts'
import type { RelayBounds } from './relay-bounds.ts'
import { copyHeaders } from './relay-poll.ts'
import type { Upstream } from './relay-upstream.ts'
import type { ResultSpool, SpooledResult } from './result-spool.ts'

export interface PostAnswer {
  reply: IncomingMessage
  text: Buffer
}

export interface Delivery {
  upstream: Upstream
  bounds: RelayBounds
  spool: ResultSpool | undefined
  /** Ends the delivery early; what is spooled stays for the next agent process. */
  closing: AbortSignal
}

/**
 * Offers a result until the plane takes it; undefined when it did not in time. The worker's disconnection does not end
 * this: the result is complete, and a worker that was killed meanwhile must not take it along. After the first failure
 * it is on disk, so neither does the end of the agent.
 */
export async function deliverPost(
  { upstream, bounds, spool, closing }: Delivery,
  result: SpooledResult,
  spooled?: () => void,
): Promise<PostAnswer | undefined> {
  const deadline = performance.now() + bounds.deliverMs
  let unspool = spooled
  for (let attempt = 0; !closing.aborted; attempt += 1) {
    const answer = await offer(upstream, result, closing)
    if (answer !== undefined && (answer.reply.statusCode ?? 500) < 500) {
      unspool?.()
      return answer
    }
    unspool ??= spool?.add(result)
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) break
    await sleep(Math.min(leftMs, backoffMs(attempt, bounds.retryBaseMs, bounds.retryMaxMs)), closing)
  }
  if (!closing.aborted) unspool?.()
  return undefined
}

async function offer(upstream: Upstream, { target, headers, body }: SpooledResult, signal: AbortSignal): Promise<PostAnswer | undefined> {
  try {
    const reply = await upstream.send({ method: 'POST', target, headers: { ...headers, 'content-length': body.length }, body, signal })
    return { reply, text: await buffer(reply) }
  } catch {
    return undefined
  }
}

export function answerPost(response: ServerResponse, answer: PostAnswer | undefined): void {
  if (response.destroyed) return
  if (answer === undefined) {
    response.writeHead(502, { 'content-type': 'application/json' }).end('{"error":"the plane did not take the result in time"}')
    return
  }
  response.statusCode = answer.reply.statusCode ?? 502
  copyHeaders(answer.reply, response)
  response.setHeader('content-length', answer.text.length)
  response.end(answer.text)
}
