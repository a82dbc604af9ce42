/** A request to an HTTP port of a pod. */
export interface DoorCall {
  podId: string
  port: number
  /** Path and query that the pod sees. */
  path: string
  /** What stands before that path under the plane's own address; null: the port has a name of its own. */
  prefix: string | null
}

const OWN_NAME = /^([a-z0-9]{1,64})-([1-9]\d{0,4})$/
const BELOW_PLANE = /^\/proxy\/([^/]+)\/([1-9]\d{0,4})(\/.*)?$/

/**
 * What a URL asks of a pod; null when it asks for something else (NET-1). `domain`: `<pod>-<port>.<domain>` is the whole of a port's own origin,
 * and no path of it is the plane's. What stands there and is no such name leads to no pod.
 */
export function parseDoorCall(url: URL, domain: string | null): DoorCall | null {
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
 * Where a request below the plane's own address is sent instead: the pod's own name, with the same path and query; null where it is served there
 * (EDG-10). `<pod>-<port>.localhost` is known to browsers of that machine alone, so programs and other machines are served below the plane.
 */
export function ownAddress(
  { podId, port, path, prefix }: DoorCall,
  { hostname }: URL,
  headers: Headers,
  domain: string | null,
): string | null {
  const name = `${podId}-${port}`
  if (domain === null || prefix === null || !OWN_NAME.test(name)) return null
  // Node's fetch says `Sec-Fetch-Mode`; only browsers say the site, too.
  const isKnown = !OF_THIS_MACHINE.test(domain) || (LOOPBACK.test(hostname) && headers.has('sec-fetch-site'))
  // Without a scheme: a proxy in front may speak another one than the plane hears.
  return isKnown ? `//${name}.${domain}${path}` : null
}

/** The same method and body go there; nothing remembers it, because a domain may be taken away again. */
export function redirectTo(address: string): Response {
  return new Response(null, { status: 307, headers: { Location: address, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' } })
}
