/** Methods that a worker may be asked with; CONNECT and TRACE are about the way, and not about the worker. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const KEPT_SECONDS = 600
const ANYWHERE = { 'Access-Control-Allow-Origin': '*' }

/** A browser asks whether a page of another origin may send a request. It never says a key with that (LB-23). */
export function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method') && !headers.has('authorization')
}

/**
 * LB-23: it may. The request itself needs a key, and no page has one that it was not given; whether the page may read the answer, the worker
 * says in that answer. No worker is asked, so that nobody without a key starts one, and no endpoint is looked up.
 */
export function preflightAnswer({ headers }: Request): Response {
  const asked = headers.get('access-control-request-headers')
  return new Response(null, {
    status: 204,
    headers: {
      ...ANYWHERE,
      'Access-Control-Allow-Methods': METHODS.join(', '),
      ...(asked === null ? {} : { 'Access-Control-Allow-Headers': asked }),
      'Access-Control-Max-Age': String(KEPT_SECONDS),
      Vary: 'Access-Control-Request-Headers',
    },
  })
}

/** What the plane itself says instead of a worker is for the page that asked, wherever that came from. */
export function readableAnywhere(response: Response): Response {
  for (const [name, value] of Object.entries(ANYWHERE)) response.headers.set(name, value)
  return response
}
