/** It stands on every answer (API-12, PP-291). */
export const REQUEST_ID_HEADER = 'x-request-id'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The id under which a request is logged: the caller's own when it is harmless, else a random one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get(REQUEST_ID_HEADER)
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
}

/** An answer that the router does not make, with the id of its request; a workload that says one of its own is left its own (PP-291). */
export function withRequestId(response: Response, requestId: string): Response {
  // A switched protocol has no headers to add.
  if (response.status === 101 || response.headers.has(REQUEST_ID_HEADER)) return response
  const told = new Response(response.body, response)
  told.headers.set(REQUEST_ID_HEADER, requestId)
  return told
}
