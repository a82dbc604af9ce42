import { problemReply as toReply } from '../../src/contract/problem-body.ts'
import { Problem, type ProblemKey } from '../../src/contract/problems.ts'
import { announcedBytes } from '../../src/domain/text/body-length.ts'
import { type PlainReply, toResponse } from '../../src/rpc/plain-reply.ts'

/** Replies of the job API: always JSON, and 200 only on success (API-2, API-3). */

/** A 200 reply with headers. */
export function plainJson(body: string, headers: Record<string, string>): PlainReply {
  return { status: 200, body, headers: { 'content-type': 'application/json', ...headers } }
}

/** The error body of the job API (API-6). */
export function plainProblem(key: ProblemKey, detail: string, headers: Record<string, string> = {}): PlainReply {
  return toReply(new Problem(key, { detail, headers }), 'jobApi')
}

/** The error response of the job API (API-6). */
export function problemReply(key: ProblemKey, detail: string, headers: Record<string, string> = {}): Response {
  return toResponse(plainProblem(key, detail, headers))
}

/** Detail of every 404 of a job: the object cannot distinguish these causes. */
export const JOB_NOT_FOUND = 'job not found: the id is unknown, its ttl expired, or its result is past retention'

/** 404 for an unknown job. */
export function jobNotFound(): Response {
  return problemReply('notFound', JOB_NOT_FOUND)
}

/** 404 for an unknown endpoint. */
export function endpointNotFound(): Response {
  return problemReply('notFound', 'endpoint not found')
}

/** 204, "no job": the worker polls again at once. */
export function nothing(): Response {
  return new Response(null, { status: 204 })
}

/** Body text up to a limit; null when it is larger. Reading stops there, so that a sender cannot fill the object's memory. */
export async function readText(request: Request, maxBytes: number): Promise<string | null> {
  if (!request.body) return ''
  // Worker SDKs send JSON under a form content type (WRK-5), so the bytes are decoded here, whatever the content type.
  const decoder = new TextDecoder('utf-8')
  const announced = announcedBytes(request.headers)
  if (announced !== null && announced <= maxBytes) {
    const body = await request.arrayBuffer()
    return body.byteLength > maxBytes ? null : decoder.decode(body)
  }
  let text = ''
  let bytes = 0
  for await (const piece of request.body) {
    bytes += piece.byteLength
    if (bytes > maxBytes) return null
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}
