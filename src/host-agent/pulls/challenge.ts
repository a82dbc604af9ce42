import { isIP } from 'node:net'

/** The authentication scheme that a registry requires, from `WWW-Authenticate`. */
export type Challenge = { scheme: 'basic' } | { scheme: 'bearer'; realm: string; service: string | undefined }

/** Parses the first challenge of a scheme that this agent supports; undefined: there is none. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const [, scheme = '', rest = ''] = /^\s*(basic|bearer)\b(.*)$/i.exec(header ?? '') ?? []
  if (scheme.toLowerCase() === 'basic') return { scheme: 'basic' }
  const members = new Map([...rest.matchAll(/([a-z_]+)="([^"]*)"/gi)].map(([, name = '', value = '']) => [name.toLowerCase(), value]))
  const realm = members.get('realm')
  return scheme === '' || realm === undefined ? undefined : { scheme: 'bearer', realm, service: members.get('service') }
}

/** Token services that belong to a registry although their host names do not show it. */
const TOKEN_SERVICES: Readonly<Record<string, string>> = {
  'registry-1.docker.io': 'auth.docker.io',
  'registry.gitlab.com': 'gitlab.com',
  'registry.digitalocean.com': 'api.digitalocean.com',
}

/**
 * Whether a login for `registry` may be sent to a token service: to the registry itself, to its host or a subdomain over https, or to a
 * service listed for it. Names with the same ending may belong to two parties (`a.co.uk`, `b.co.uk`), so the operator names other services
 * (`isAllowed`).
 */
export function isItsTokenService(registry: URL, service: URL, isAllowed: boolean): boolean {
  if (service.host === registry.host) return service.protocol === registry.protocol
  if (isAllowed) return true
  if (service.protocol !== 'https:' || isIP(registry.hostname.replace(/^\[|\]$/g, '')) !== 0) return false
  const isBelow = registry.hostname.includes('.') && service.hostname.endsWith(`.${registry.hostname}`)
  return isBelow || service.hostname === registry.hostname || TOKEN_SERVICES[registry.host] === service.host
}
