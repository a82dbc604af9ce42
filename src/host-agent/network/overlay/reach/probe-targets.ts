import type { Overlay, OverlayMember } from '../../../../host-protocol/overlays.ts'

/** Up to this size every member probes every other one. */
export const ALL_ASK_ALL_MAX = 32

/**
 * The members that a member probes (NET-50). In a large network the members of one host divide the members of all other hosts among
 * themselves: all of them use the same tunnel, and every host still probes every member. Pure.
 */
export function probeTargets({ members }: Pick<Overlay, 'members'>, self: OverlayMember): OverlayMember[] {
  const others = members.filter((other) => other !== self)
  if (members.length <= ALL_ASK_ALL_MAX) return others
  const ofHost = (host: string | null) => members.filter(({ hostAddress }) => hostAddress === host)
  const own = ofHost(self.hostAddress)
  const turn = own.indexOf(self)
  const places = new Map(members.map((member, place) => [member, place]))
  return others.filter((other) => other.hostAddress === self.hostAddress || (places.get(other) ?? 0) % own.length === turn)
}
