import type { Overlay } from '../../../host-protocol/overlays.ts'
import type { WirePeer } from './encryption/wire-routes.ts'
import type { Underlay } from './underlay.ts'

/** Other hosts of a network, by how this host sends to them. */
export interface Peers {
  encrypted: WirePeer[]
  plain: string[]
  /** Not at all: they do not encrypt, and this host requires encryption. */
  refused: string[]
}

/** Divides the other hosts of a network by encryption. Pure. */
export function peersOf({ members, hosts = [] }: Overlay, { address: own, wire, isPlainRefused }: OwnEnd): Peers {
  const addresses = new Set(members.flatMap(({ hostAddress }) => hostAddress ?? []))
  const others = [...addresses].filter((host) => host !== own && !host.includes(':')).toSorted()
  const keys = new Map(wire === null ? [] : hosts.map(({ address, publicKey }) => [address, publicKey]))
  const withoutKey = others.filter((address) => !keys.has(address))
  return {
    encrypted: others.flatMap((address) => {
      const publicKey = keys.get(address)
      return publicKey === undefined ? [] : [{ address, publicKey }]
    }),
    plain: isPlainRefused ? [] : withoutKey,
    refused: isPlainRefused ? withoutKey : [],
  }
}

/** The properties of this host that decide. */
export type OwnEnd = Pick<Underlay, 'address' | 'isPlainRefused'> & { wire: Pick<NonNullable<Underlay['wire']>, 'device'> | null }
