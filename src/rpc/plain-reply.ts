import type { ProblemReply } from '../contract/problem-body.ts'

/**
 * A small reply as plain data, which an RPC carries for a third of the cost of a `Response`. A string alone is a 200 with this JSON, which
 * is cheaper still and the reply of nearly every call.
 */
export type PlainReply = string | ProblemReply

/** The reply as a response to the client. */
export function toResponse(reply: PlainReply): Response {
  return typeof reply === 'string' ? jsonReply(reply) : new Response(reply.body, { status: reply.status, headers: reply.headers })
}

/** A 200 with this JSON. */
export function jsonReply(body: string): Response {
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}
