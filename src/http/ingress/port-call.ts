/** A request to an HTTP port of a pod. */
export interface PortCall {
  podId: string
  port: number
  /** Path and query that the pod receives. */
  path: string
  /** Part of the plane's path before that path; null: the port has its own host name. */
  prefix: string | null
}

const OWN_NAME = /^([a-z0-9]{1,64})-([1-9]\d{0,4})$/
const BELOW_PLANE = /^\/proxy\/([^/]+)\/([1-9]\d{0,4})(\/.*)?$/

/**
 * Parses the URL of a request to an HTTP port of a pod; null if it is another URL (NET-1). Below `domain`, the whole origin
 * `<pod>-<port>.<domain>` belongs to the port, and none of its paths to the plane. A name there of another form leads to no pod.
 */
export function parsePortCall(url: URL, domain: string | null): PortCall | null {
  if (domain !== null && url.host.endsWith(`.${domain}`)) {
    const [, podId = '', port = '0'] = OWN_NAME.exec(url.host.slice(0, -domain.length - 1)) ?? []
    return { podId, port: Number(port), path: url.pathname + url.search, prefix: null }
  }
  const [, podId, port = '0', path = '/'] = BELOW_PLANE.exec(url.pathname) ?? []
  return podId === undefined ? null : { podId, port: Number(port), path: path + url.search, prefix: `/proxy/${podId}/${port}` }
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/
const OF_THIS_MACHINE = /^localhost(?::|$)/

/**
 * Returns the address to which a request below the plane's own address is redirected: the pod's own host name with the same path and query;
 * null if the plane serves it itself (EDG-10). Only browsers on that machine resolve `<pod>-<port>.localhost`, so programs and other
 * machines are served below the plane.
 */
export function ownAddress(
  { podId, port, path, prefix }: PortCall,
  { hostname }: URL,
  headers: Headers,
  domain: string | null,
): string | null {
  const name = `${podId}-${port}`
  if (domain === null || prefix === null || !OWN_NAME.test(name)) return null
  // Node's fetch sends `Sec-Fetch-Mode`; only browsers also send `Sec-Fetch-Site`.
  const isKnown = !OF_THIS_MACHINE.test(domain) || (LOOPBACK.test(hostname) && headers.has('sec-fetch-site'))
  // The address has no scheme: a proxy in front may use another scheme than the one that the plane sees.
  return isKnown ? `//${name}.${domain}${path}` : null
}

/** A redirect that keeps method and body. It must not be cached, because the domain may be removed later. */
export function redirectTo(address: string): Response {
  return new Response(null, { status: 307, headers: { Location: address, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' } })
}
