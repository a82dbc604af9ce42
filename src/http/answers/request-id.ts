/** Header with the id of the request, present on every answer (API-12, API-31). */
export const REQUEST_ID_HEADER = 'x-request-id'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the id under which a request is logged: the id that the caller sent if it matches `REQUEST_ID`, otherwise a random UUID. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get(REQUEST_ID_HEADER)
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
}

/** Adds the request id to an answer that bypasses the router. A request id that the workload has set itself stays (API-31). */
export function withRequestId(response: Response, requestId: string): Response {
  // Headers of a 101 response cannot be extended.
  if (response.status === 101 || response.headers.has(REQUEST_ID_HEADER)) return response
  const answer = new Response(response.body, response)
  answer.headers.set(REQUEST_ID_HEADER, requestId)
  return answer
}
