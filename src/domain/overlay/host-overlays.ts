import type { Overlay } from '../../host-protocol/overlays.ts'
import { nodeName } from '../cluster/environment.ts'
import { overlayOf } from './addresses.ts'

/** A private network with its members, as the rows say. */
export interface NetworkOnHost {
  id: string
  kind: 'cluster' | 'account'
  slot: number
  /** 0: nobody asks whether members reach one another. */
  checkNumber: number
  members: NetworkMember[]
}

/** With what its host says of itself. */
export interface NetworkMember {
  podId: string
  rank: number | null
  address: string
  hostId: string
  hostAddress: string | null
  hostKey: string | null
  hostMtu: number | null
}

/** What a host is told of its private networks. Pure. */
export function describeOverlays(networks: readonly NetworkOnHost[], internalDomain: string): Overlay[] {
  return networks.map(({ id, kind, slot, checkNumber, members }) => ({
    id,
    ...overlayOf(kind, slot),
    domain: internalDomain,
    members: members.map(({ podId, rank, address, hostAddress }) => {
      return { podId, address, hostAddress, names: rank === null ? [internalName(podId, internalDomain)] : [nodeName(rank)] }
    }),
    ...describeHosts(members),
    ...(checkNumber > 0 && { check: checkNumber }),
  }))
}

/** The keys that hosts encrypt for (HOST-161), and the largest packet that all of them carry (HOST-162). */
function describeHosts(members: readonly NetworkMember[]): Pick<Overlay, 'hosts' | 'mtu'> {
  const keys = new Map(members.flatMap((one) => (one.hostAddress === null || one.hostKey === null ? [] : [[one.hostAddress, one.hostKey]])))
  const hosts = [...keys].map(([address, publicKey]) => ({ address, publicKey }))
  const mtus = members.flatMap(({ hostMtu }) => hostMtu ?? [])
  return { ...(hosts.length > 0 && { hosts }), ...(mtus.length > 0 && { mtu: Math.min(...mtus) }) }
}

/** Name of a pod for others of its account (NET-3). */
export function internalName(podId: string, internalDomain: string): string {
  return `${podId.toLowerCase()}.${internalDomain}`
}

/** Hosts beside `self` that have members of networks which were there before, or are now, and are not the same. */
export function othersConcerned(self: string, before: readonly NetworkOnHost[], after: readonly NetworkOnHost[]): string[] {
  const isSame = (network: NetworkOnHost, among: readonly NetworkOnHost[]) =>
    among.some((other) => other.id === network.id && JSON.stringify(other) === JSON.stringify(network))
  const changed = [...before.filter((network) => !isSame(network, after)), ...after.filter((network) => !isSame(network, before))]
  const hosts = new Set(changed.flatMap(({ members }) => members.map(({ hostId }) => hostId)))
  hosts.delete(self)
  return [...hosts].toSorted()
}
