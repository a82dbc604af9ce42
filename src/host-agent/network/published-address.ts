import { isIPv6 } from 'node:net'

const LOOPBACK = '127.0.0.1'

/** The addresses that ports of containers are bound on. */
export interface PublishedPlace {
  /** Address at which ports are reached from outside; null: they are not. */
  publicIp: string | null
  /** Address on which `http` ports are bound, for the ingress in front of them. */
  httpIp: string
  /** Addresses of this machine. */
  ownAddresses: ReadonlySet<string>
}

/**
 * The address of the machine on which a port is bound (HOST-83): `http` ports are for the ingress in front of them, `tcp` ports for every
 * client that reaches the public address. A public address that is translated on the way is none of this machine's; the port is then bound
 * on all addresses.
 */
export function bindAddress(type: string, { publicIp, httpIp, ownAddresses }: PublishedPlace): string {
  if (type === 'http') return httpIp
  if (publicIp === null) return LOOPBACK
  if (isLoopback(publicIp) || ownAddresses.has(publicIp)) return publicIp
  return isIPv6(publicIp) ? '::' : '0.0.0.0'
}

/** Addresses on which one container port is bound, for all types with which it is requested; 0.0.0.0 includes every other address. */
export function bindAddresses(types: readonly string[], place: PublishedPlace): string[] {
  const addresses = [...new Set(types.map((type) => bindAddress(type, place)))]
  const everywhere = addresses.find((address) => address === '0.0.0.0')
  return everywhere === undefined ? addresses : [everywhere]
}

/** Whether a plain IP address is reachable from this machine only. */
export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}
