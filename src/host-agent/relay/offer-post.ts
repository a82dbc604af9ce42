import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { copyHeaders } from './poll.ts'
import type { Post } from './post-spool.ts'
import type { Upstream } from './upstream.ts'

/** What the plane said to a post. */
export interface PostAnswer {
  reply: IncomingMessage
  status: number
  text: Buffer
}

/** What a worker is told of its post: the plane's answer, that it is safe on disk, or that there is no room for it. */
export type PostOutcome = PostAnswer | 'kept' | 'full'

/** These are about the moment, not about the post. */
const PASSING_REFUSALS: ReadonlySet<number> = new Set([408, 425, 429])

/** Offers a post to the plane once; undefined when no answer came. */
export async function offerPost(
  upstream: Upstream,
  caller: string,
  { body, ...post }: Post,
  idleMs: number,
  signal: AbortSignal,
): Promise<PostAnswer | undefined> {
  const headers = post.method === 'POST' ? { ...post.headers, 'content-length': body.length } : post.headers
  try {
    const reply = await upstream.send({ ...post, caller, headers, idleMs, signal, ...(post.method === 'POST' && { body }) })
    return { reply, status: reply.statusCode ?? 500, text: await buffer(reply) }
  } catch {
    return undefined
  }
}

/** Whether the plane has decided about a post, so that it is not offered again. */
export function isDecided({ status }: PostAnswer): boolean {
  return status < 300 || (status >= 400 && status < 500 && !PASSING_REFUSALS.has(status))
}

export function answerPost(response: ServerResponse, { reply, status, text }: PostAnswer): void {
  if (response.destroyed) return
  response.statusCode = status
  copyHeaders(reply, response)
  response.setHeader('content-length', text.length)
  response.end(text)
}
