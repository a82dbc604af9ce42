import type { Overlay } from '../../host-protocol/overlays.ts'
import { nodeName } from '../cluster/environment.ts'
import { overlayOf } from './addresses.ts'

/** A private network with its members, as stored. */
export interface NetworkOnHost {
  id: string
  kind: 'cluster' | 'account'
  slot: number
  /** Number of the current connectivity check; 0: no check is requested. */
  checkNumber: number
  members: NetworkMember[]
}

/** Member of a network, with the tunnel settings that its host has reported. */
export interface NetworkMember {
  podId: string
  rank: number | null
  address: string
  hostId: string
  hostAddress: string | null
  hostKey: string | null
  hostMtu: number | null
}

/** Private networks of a host in the form in which its agent receives them. Pure. */
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

/** Public keys of the hosts that members encrypt for (HOST-161), and the largest MTU that all of them support (HOST-162). */
function describeHosts(members: readonly NetworkMember[]): Pick<Overlay, 'hosts' | 'mtu'> {
  const keys = new Map(members.flatMap((one) => (one.hostAddress === null || one.hostKey === null ? [] : [[one.hostAddress, one.hostKey]])))
  const hosts = [...keys].map(([address, publicKey]) => ({ address, publicKey }))
  const mtus = members.flatMap(({ hostMtu }) => hostMtu ?? [])
  return { ...(hosts.length > 0 && { hosts }), ...(mtus.length > 0 && { mtu: Math.min(...mtus) }) }
}

/** DNS name of a pod for other pods of its account (NET-3). */
export function internalName(podId: string, internalDomain: string): string {
  return `${podId.toLowerCase()}.${internalDomain}`
}

/** Hosts other than `self` that have members in networks which were added, removed or changed, sorted by id. */
export function othersConcerned(self: string, before: readonly NetworkOnHost[], after: readonly NetworkOnHost[]): string[] {
  const isSame = (network: NetworkOnHost, among: readonly NetworkOnHost[]) =>
    among.some((other) => other.id === network.id && JSON.stringify(other) === JSON.stringify(network))
  const changed = [...before.filter((network) => !isSame(network, after)), ...after.filter((network) => !isSame(network, before))]
  const hosts = new Set(changed.flatMap(({ members }) => members.map(({ hostId }) => hostId)))
  hosts.delete(self)
  return [...hosts].toSorted()
}
