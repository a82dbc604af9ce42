import type { Overlay } from '../../../host-protocol/overlays.ts'

/** The names of one private network, for its members. */
export interface Zone {
  /** Lower case, without a final dot. */
  domain: string
  /** Addresses by name, in lower case. */
  addresses: ReadonlyMap<string, readonly string[]>
  /** The first name of each address, with a domain. */
  pointers: ReadonlyMap<string, string>
}

/**
 * The zone of a network: each name of a member, and names without a domain also below the network's domain, so that both `node-0` and
 * `node-0.podplane.internal` resolve (NET-70). Undefined: the plane is too old to state the domain. Pure.
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
