const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The id under which a request is logged: the caller's own when it is harmless, else a random one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id')
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
}
