import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { copyHeaders } from './poll.ts'
import type { Post } from './post-spool.ts'
import type { Upstream } from './upstream.ts'

/** The plane's answer to a post. */
export interface PostAnswer {
  headers: IncomingMessage['headers']
  status: number
  text: Buffer
}

/** The worker's answer to its post: the plane's own, that it is stored on disk, or that there is no space for it. */
export type PostOutcome = PostAnswer | 'kept' | 'full'

/** Temporary refusals, which do not concern the post itself. */
const PASSING_REFUSALS: ReadonlySet<number> = new Set([408, 425, 429])

/** Offers a post to the plane once; undefined when there was no answer. */
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
    return { headers: reply.headers, status: reply.statusCode ?? 500, text: await buffer(reply) }
  } catch {
    return undefined
  }
}

/** Whether the plane has accepted or refused a post for good, so that it is not offered again. */
export function isDecided({ status }: PostAnswer): boolean {
  return status < 300 || (status >= 400 && status < 500 && !PASSING_REFUSALS.has(status))
}

/** Sends the plane's answer to the worker; does nothing if the worker has disconnected. */
export function answerPost(response: ServerResponse, { headers, status, text }: PostAnswer): void {
  if (response.destroyed) return
  response.statusCode = status
  copyHeaders(headers, response)
  response.setHeader('content-length', text.length)
  response.end(text)
}
