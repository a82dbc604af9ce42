import { parseIp } from '../../domain/webhook/ip-address.ts'

/** An IPv6 customer has at least a network of this many bits: their addresses are one. */
const IPV6_NETWORK_BITS = 64n
const MAX_ADDRESS_CHARS = 64

/**
 * Whose failed look-ups are counted together (PP-200): the network address of a request's sender. Cloudflare writes it, a proxy before a
 * plane on one machine does, and the plane itself listens on loopback alone. Null where nothing says it: senders who cannot be told apart
 * share no count, or one of them would lock out all.
 */
export function clientSource(request: Request): string | null {
  const text = clientAddress(request)
  const address = text === null ? null : parseIp(text)
  if (!address) return null
  return address.width === 32 ? String(address.bits) : `${address.bits >> IPV6_NETWORK_BITS}/64`
}

/** The address of a request's sender as the network in front of the plane writes it; null where nothing does. */
export function clientAddress(request: Request): string | null {
  const text = request.cf
    ? request.headers.get('cf-connecting-ip')
    : (request.headers.get('x-forwarded-for')?.slice(-MAX_ADDRESS_CHARS).split(',').at(-1)?.trim() ?? null)
  return text !== null && parseIp(text) !== null ? text : null
}
