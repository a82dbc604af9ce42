/** What a registry asks for, as `WWW-Authenticate` says it. */
export type Challenge = { scheme: 'basic' } | { scheme: 'bearer'; realm: string; service: string | undefined }

/** Reads the first challenge that this agent knows; undefined: there is none. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const [, scheme = '', rest = ''] = /^\s*(basic|bearer)\b(.*)$/i.exec(header ?? '') ?? []
  if (scheme.toLowerCase() === 'basic') return { scheme: 'basic' }
  const members = new Map([...rest.matchAll(/([a-z_]+)="([^"]*)"/gi)].map(([, name = '', value = '']) => [name.toLowerCase(), value]))
  const realm = members.get('realm')
  return scheme === '' || realm === undefined ? undefined : { scheme: 'bearer', realm, service: members.get('service') }
}

/**
 * Whether a login for `registry` may be sent to its token service: to the registry itself, or to a neighbour in the same domain, as
 * `auth.docker.io` is of `registry-1.docker.io`. A registry that names a service elsewhere gets no login.
 */
export function isNeighbour(registry: URL, service: URL): boolean {
  if (service.host === registry.host) return service.protocol === registry.protocol
  const domain = domainOf(registry.hostname)
  return domain !== undefined && service.protocol === 'https:' && domainOf(service.hostname) === domain
}

/** The last two labels of a name; undefined for an address and for a name of one label. */
function domainOf(hostname: string): string | undefined {
  const labels = hostname.split('.')
  const isName = /^[a-z][a-z-]*[a-z]$/i.test(labels.at(-1) ?? '')
  return isName && labels.length >= 2 ? labels.slice(-2).join('.') : undefined
}
