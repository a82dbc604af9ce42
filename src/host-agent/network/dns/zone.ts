import type { Overlay } from '../../../host-protocol/overlays.ts'

/** The names of one private network, as its members are told of them. */
export interface Zone {
  /** In lower case, without a dot at the end. */
  domain: string
  /** Addresses by name, each in lower case. */
  addresses: ReadonlyMap<string, readonly string[]>
  /** The longest name of each address. */
  pointers: ReadonlyMap<string, string>
}

/**
 * The zone of a network: each name of a member as it is, and names without a domain below the domain of the network too, so that both `node-0` and
 * `node-0.podplane.internal` lead to it (NET-70). Undefined: the plane is too old to say the domain. Pure.
 */
export function zoneOf({ domain, members }: Pick<Overlay, 'domain' | 'members'>): Zone | undefined {
  if (domain === undefined) return undefined
  const addresses = new Map<string, string[]>()
  const pointers = new Map<string, string>()
  for (const { address, names } of members) {
    const all = names.flatMap((name) => (name.includes('.') ? [name] : [`${name}.${domain}`, name])).map((name) => name.toLowerCase())
    for (const name of all) addresses.set(name, [...(addresses.get(name) ?? []), address])
    const [first] = all
    if (first !== undefined) pointers.set(address, first)
  }
  return { domain: domain.toLowerCase(), addresses, pointers }
}
