import { PLAIN_TEXT } from '../../contract/fields.ts'
import { type IpAddress, type IpRange, inRange, isPublic, parseRange, parseUrlHost } from './ip-address.ts'

/** Entries of `WEBHOOK_ALLOW` (HOOK-7): names and addresses that the guard allows, with plain `http` too. */
export interface WebhookAllowList {
  hosts: ReadonlySet<string>
  ranges: readonly IpRange[]
}

/** Header of a 502 in which the outbound proxy of a local plane names the reason for the missing answer. */
export const OUTBOUND_ERROR_HEADER = 'x-podplane-outbound-error'
/** Maximum length of a webhook URL, characters. */
export const MAX_WEBHOOK_URL_CHARS = 2048

/** Zones that do not exist in public DNS, or that private networks resolve (RFC 6761, RFC 6762, RFC 8375 and common practice). */
const PRIVATE_ZONES = [
  'alt',
  'arpa',
  'corp',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'onion',
  'private',
  'test',
]
/** Public zones whose names encode any address, or always resolve to loopback. */
const ADDRESS_ZONES = [
  'fuf.me',
  'lacolhost.com',
  'localtest.me',
  'lvh.me',
  'nip.io',
  'sslip.io',
  'traefik.me',
  'vcap.me',
  'xip.io',
  'yoogle.com',
]

/**
 * Parses a comma-separated list of hosts and CIDR ranges. An item that is neither is ignored, so a typing error never allows more than
 * intended.
 */
export function parseAllowList(text: string): WebhookAllowList {
  const items = text.split(',').map((item) => item.trim().toLowerCase())
  const hosts = items.filter((item) => /^[a-z0-9_.-]+$/.test(item) && parseRange(item) === null).map(bareName)
  return { hosts: new Set(hosts), ranges: items.flatMap((item) => parseRange(item) ?? []) }
}

/**
 * Why a webhook URL is refused (HOOK-7), or null when it may be called. A name that resolves to a private address passes here, because
 * resolving needs I/O; the connecting code checks the address with `mayConnect`.
 */
export function refuseWebhookUrl(text: string, allow: WebhookAllowList): string | null {
  if (text.length > MAX_WEBHOOK_URL_CHARS) return `must have at most ${MAX_WEBHOOK_URL_CHARS} characters`
  // The URL parser would drop tabs and line breaks, and the called URL would differ from the one shown.
  const url = /^[!-~\u0080-\uffff]+$/.test(text) && PLAIN_TEXT.test(text) ? URL.parse(text) : null
  if (!url) return 'want an absolute https URL'
  const listed = isListed(url.hostname, allow)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && listed)) return 'want an https URL'
  if (url.username !== '' || url.password !== '') return 'a user name or password in the URL is not allowed'
  return listed || isPublicHost(url.hostname) ? null : 'the host is private, loopback, link-local or reserved; want a public one'
}

/** Whether a connection to a URL's host may go to the address that its name resolved to (HOOK-7). `host` in the form of `URL.hostname`. */
export function mayConnect(host: string, address: IpAddress, allow: WebhookAllowList): boolean {
  return isPublic(address) || allow.hosts.has(bareName(host)) || allow.ranges.some((range) => inRange(address, range))
}

function isListed(host: string, allow: WebhookAllowList): boolean {
  const address = parseUrlHost(host)
  return address ? allow.ranges.some((range) => inRange(address, range)) : allow.hosts.has(bareName(host))
}

function isPublicHost(host: string): boolean {
  const address = parseUrlHost(host)
  if (address) return isPublic(address)
  const name = bareName(host)
  const under = (zone: string) => name === zone || name.endsWith(`.${zone}`)
  // No public name has empty labels. The URL parser does not take `127.0.0.1..` for an address, but a resolver might.
  if (/\.\.|^\./.test(host)) return false
  // A name without a dot is completed by the resolver's private search list.
  return name.includes('.') && !PRIVATE_ZONES.some(under) && !ADDRESS_ZONES.some(under)
}

/** `name.` and `name` are the same host. */
function bareName(host: string): string {
  return host.replace(/\.+$/, '')
}
