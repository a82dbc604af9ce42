/** Methods that reach a worker. CONNECT and TRACE concern proxies, not the worker. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const KEPT_SECONDS = 600
const ANYWHERE = { 'Access-Control-Allow-Origin': '*' }

/**
 * Whether a request is a CORS preflight: a browser asks whether a page of another origin may send a request. A preflight never carries a
 * key (LB-23).
 */
export function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method') && !headers.has('authorization')
}

/**
 * LB-23: the plane allows every preflight. The request itself needs a key, which only a page that was given one has; the worker's answer
 * decides whether the page may read it. No endpoint is looked up and no worker is started, because a preflight has no key.
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

/** Lets a page of any origin read an answer of the plane itself. */
export function readableAnywhere(response: Response): Response {
  for (const [name, value] of Object.entries(ANYWHERE)) response.headers.set(name, value)
  return response
}
