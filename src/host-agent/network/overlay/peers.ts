import type { Overlay } from '../../../host-protocol/overlays.ts'
import type { WirePeer } from './encryption/wire-routes.ts'
import type { Underlay } from './underlay.ts'

/** Other hosts of a network, by how this one speaks with them. */
export interface Peers {
  encrypted: WirePeer[]
  plain: string[]
  /** In no way: they do not encrypt, and this host takes nothing else. */
  refused: string[]
}

/** Pure. */
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

/** What of this host decides. */
export type OwnEnd = Pick<Underlay, 'address' | 'isPlainRefused'> & { wire: Pick<NonNullable<Underlay['wire']>, 'device'> | null }
