import type { Overlay, OverlayMember } from '../../../../host-protocol/overlays.ts'

/** Up to this size every member asks every other one. */
export const ALL_ASK_ALL_MAX = 32

/**
 * The others that a member of a host asks whether they answer (NET-50). In a large network members of one host share those of each other host:
 * all of them go through the same tunnel, and every one is still asked by every host. Pure.
 */
export function whomToAsk({ members }: Pick<Overlay, 'members'>, self: OverlayMember): OverlayMember[] {
  const others = members.filter((other) => other !== self)
  if (members.length <= ALL_ASK_ALL_MAX) return others
  const ofHost = (host: string | null) => members.filter(({ hostAddress }) => hostAddress === host)
  const own = ofHost(self.hostAddress)
  const turn = own.indexOf(self)
  const places = new Map(members.map((member, place) => [member, place]))
  return others.filter((other) => other.hostAddress === self.hostAddress || (places.get(other) ?? 0) % own.length === turn)
}
