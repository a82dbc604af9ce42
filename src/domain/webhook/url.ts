import { PLAIN_TEXT } from '../../contract/fields.ts'
import { type IpAddress, type IpRange, inRange, isPublic, parseRange, parseUrlHost } from './ip-address.ts'

/** What `WEBHOOK_ALLOW` lists (HOOK-7): names and addresses that the guard lets through, with plain `http` too. */
export interface WebhookAllowList {
  hosts: ReadonlySet<string>
  ranges: readonly IpRange[]
}

/** The way out of a local plane tells with this header of a 502 why there is no answer. */
export const OUTBOUND_ERROR_HEADER = 'x-podplane-outbound-error'
/** Longest webhook URL, characters. */
export const MAX_WEBHOOK_URL_CHARS = 2048

/** Names that no public zone holds, or that a private network answers (RFC 6761, RFC 6762, RFC 8375 and common practice). */
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
/** Public zones whose names spell out any address, or always mean loopback. */
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

/** Reads a comma list of hosts and CIDR ranges. An item that is neither is left out, so a slip never opens more than was meant. */
export function parseAllowList(text: string): WebhookAllowList {
  const items = text.split(',').map((item) => item.trim().toLowerCase())
  const hosts = items.filter((item) => /^[a-z0-9_.-]+$/.test(item) && parseRange(item) === null).map(bareName)
  return { hosts: new Set(hosts), ranges: items.flatMap((item) => parseRange(item) ?? []) }
}

/**
 * Why a webhook URL is refused (HOOK-7), or null when it may be called. A name that resolves to a private address passes here: nothing
 * can be resolved without I/O, so whoever connects checks the address again with `mayConnect`.
 */
export function refuseWebhookUrl(text: string, allow: WebhookAllowList): string | null {
  if (text.length > MAX_WEBHOOK_URL_CHARS) return `must have at most ${MAX_WEBHOOK_URL_CHARS} characters`
  // The parser would drop tabs and line breaks, and what is called would not be what was read.
  const url = /^[!-~\u0080-\uffff]+$/.test(text) && PLAIN_TEXT.test(text) ? URL.parse(text) : null
  if (!url) return 'want an absolute https URL'
  const listed = isListed(url.hostname, allow)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && listed)) return 'want an https URL'
  if (url.username !== '' || url.password !== '') return 'a user name or password in the URL is not allowed'
  return listed || isPublicHost(url.hostname) ? null : 'the host is private, loopback, link-local or reserved; want a public one'
}

/** Says whether a connection for a URL's host may go to the address its name resolved to (HOOK-7). `host` as `URL.hostname` has it. */
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
  // Empty labels are in no public name, but `127.0.0.1..` is no address to the URL parser either, and who knows to whom it is.
  if (/\.\.|^\./.test(host)) return false
  // A name without a dot is completed by the resolver's search list, which is a private matter.
  return name.includes('.') && !PRIVATE_ZONES.some(under) && !ADDRESS_ZONES.some(under)
}

/** `name.` and `name` are one host. */
function bareName(host: string): string {
  return host.replace(/\.+$/, '')
}
