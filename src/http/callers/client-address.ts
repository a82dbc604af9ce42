import { parseIp } from '../../domain/webhook/ip-address.ts'

/** An IPv6 customer has at least a /64, so all addresses of a /64 count as one client. */
const IPV6_NETWORK_BITS = 64n
const MAX_ADDRESS_CHARS = 64

/**
 * Returns the source under which failed lookups are counted (KEY-10): the IPv4 address or the IPv6 /64 of the sender. Cloudflare sets the
 * address, or a proxy in front of a plane on one machine; that plane itself listens on loopback only. Returns null if no address is known:
 * clients that cannot be distinguished share no count, because one of them would lock out all others.
 */
export function clientSource(request: Request): string | null {
  const text = clientAddress(request)
  const address = text === null ? null : parseIp(text)
  if (!address) return null
  return address.width === 32 ? String(address.bits) : `${address.bits >> IPV6_NETWORK_BITS}/64`
}

/**
 * Returns the sender's address as set by the network in front of the plane (`CF-Connecting-IP`, or the last entry of `X-Forwarded-For`);
 * null if there is none.
 */
export function clientAddress(request: Request): string | null {
  const text = request.cf
    ? request.headers.get('cf-connecting-ip')
    : (request.headers.get('x-forwarded-for')?.slice(-MAX_ADDRESS_CHARS).split(',').at(-1)?.trim() ?? null)
  return text !== null && parseIp(text) !== null ? text : null
}
