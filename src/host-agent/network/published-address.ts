import { isIPv6 } from 'node:net'

const LOOPBACK = '127.0.0.1'

export interface PublishedPlace {
  /** Under which ports are reached from outside; null: they are not. */
  publicIp: string | null
  /** Where `http` ports are bound, for whatever stands in front of them. */
  httpIp: string
  /** Addresses of this machine. */
  ownAddresses: ReadonlySet<string>
}

/**
 * The address of the machine that a port is bound on (HOST-83): `http` ports are for the door in front of them, `tcp` ports for everybody who
 * reaches the public address. That one may be translated on the way here and then is none of this machine's.
 */
export function bindAddress(type: string, { publicIp, httpIp, ownAddresses }: PublishedPlace): string {
  if (type === 'http') return httpIp
  if (publicIp === null) return LOOPBACK
  if (isLoopback(publicIp) || ownAddresses.has(publicIp)) return publicIp
  return isIPv6(publicIp) ? '::' : '0.0.0.0'
}

/** The bindings of one port of a container, of all types that it is asked for with; everywhere holds every other one. */
export function bindAddresses(types: readonly string[], place: PublishedPlace): string[] {
  const addresses = [...new Set(types.map((type) => bindAddress(type, place)))]
  const everywhere = addresses.find((address) => address === '0.0.0.0')
  return everywhere === undefined ? addresses : [everywhere]
}

export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}
