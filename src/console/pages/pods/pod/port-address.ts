/** Part of `location` of the current page. */
interface Place {
  protocol: string
  hostname: string
  origin: string
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Address of an HTTP port of a pod: a host name of its own if the plane has a domain for ports (NET-1), else a path of the plane. A
 * `localhost` domain resolves only on the plane's machine, so a browser elsewhere gets the path.
 */
export function portAddress(podId: string, port: string, domain: string | null, here: Place): string {
  const isOfMachine = domain !== null && /^localhost(:|$)/.test(domain)
  if (domain === null || (isOfMachine && !LOOPBACK.includes(here.hostname))) return `${here.origin}/proxy/${podId}/${port}/`
  return `${here.protocol}//${podId}-${port}.${domain}/`
}
