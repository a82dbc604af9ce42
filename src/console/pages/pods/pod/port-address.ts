/** Where a page that is shown has come from. */
interface Place {
  protocol: string
  hostname: string
  origin: string
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Where an HTTP port of a pod is reached: at a name of its own where the plane has a domain for them (NET-1), else below the plane. A domain of
 * the plane's own machine is known there alone, so who looks from elsewhere is not sent to it.
 */
export function portAddress(podId: string, port: string, domain: string | null, here: Place): string {
  const isOfMachine = domain !== null && /^localhost(:|$)/.test(domain)
  if (domain === null || (isOfMachine && !LOOPBACK.includes(here.hostname))) return `${here.origin}/proxy/${podId}/${port}/`
  return `${here.protocol}//${podId}-${port}.${domain}/`
}
