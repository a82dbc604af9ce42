/**
 * IP addresses, and the ranges that a plane must not be made to call. Texts are parsed as URL hosts, so all spellings of an address are
 * equal.
 */

/** An address as a 32-bit (IPv4) or 128-bit (IPv6) number. */
export interface IpAddress {
  width: 32 | 128
  bits: bigint
}

/** A range of addresses that share their first `prefix` bits. */
export interface IpRange extends IpAddress {
  prefix: number
}

/** Address in the host part of a URL (IPv6 in brackets), or null for a name. The URL parser has already made it canonical. */
export function parseUrlHost(host: string): IpAddress | null {
  if (host.startsWith('[') && host.endsWith(']')) return { width: 128, bits: parseIpv6(host.slice(1, -1)) }
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) ? { width: 32, bits: parseIpv4(host) } : null
}

/** Address in a text such as `10.0.0.1`, `::1` or `[::1]`, or null when the text is not an address. */
export function parseIp(text: string): IpAddress | null {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const host = /^[0-9a-fA-F.:]*:[0-9a-fA-F.:]*$/.test(bare) ? `[${bare}]` : bare
  const url = host !== bare || /^\d+(\.\d+){3}$/.test(bare) ? URL.parse(`http://${host}/`) : null
  return url && parseUrlHost(url.hostname)
}

/** Parses a range such as `10.0.0.0/8`, or a single address; null when the text is neither. */
export function parseRange(text: string): IpRange | null {
  const [head = '', length, ...rest] = text.split('/')
  const address = parseIp(head)
  if (!address || rest.length > 0) return null
  if (length === undefined) return { ...address, prefix: address.width }
  const prefix = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
  return prefix <= address.width ? { ...address, prefix } : null
}

/** Whether an address lies in a range; never across IPv4 and IPv6. */
export function inRange(address: IpAddress, range: IpRange): boolean {
  if (address.width !== range.width) return false
  const shift = BigInt(range.width - range.prefix)
  return address.bits >> shift === range.bits >> shift
}

// The IANA special-purpose registries, multicast and reserved space. 168.63.129.16 is a cloud's host agent on a public address; the other
// metadata services (169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254) lie within these ranges.
const REFUSED_IPV4 = ranges(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 ' +
    '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
)
/** Only global unicast can be public. Ranges that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) are outside of it or listed below. */
const GLOBAL_IPV6 = ranges('2000::/3')
const REFUSED_IPV6 = ranges('2001::/23 2001:db8::/32 2002::/16 3fff::/20')

/** Whether an address is on the public internet: not private, loopback, link-local, metadata, multicast or reserved. */
export function isPublic(address: IpAddress): boolean {
  const within = (list: readonly IpRange[]) => list.some((range) => inRange(address, range))
  return address.width === 32 ? !within(REFUSED_IPV4) : within(GLOBAL_IPV6) && !within(REFUSED_IPV6)
}

function ranges(list: string): IpRange[] {
  return list.split(' ').flatMap((text) => parseRange(text) ?? [])
}

function parseIpv4(text: string): bigint {
  return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)
}

// For canonical text only: hex groups, and at most one `::`.
function parseIpv6(text: string): bigint {
  const [head = '', tail] = text.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const left = groups(head)
  const right = tail === undefined ? [] : groups(tail)
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n)
}
