import type { NetworkMember, NetworkOnHost } from './networks-on-host.ts'

/** Tunnel endpoints of hosts. Each host reports its own, and the plane has no other source to verify them. Pure. */

/** A host whose reported tunnel endpoint is ignored, because another host (`holderId`) already holds the same address or key. */
export interface Doubt {
  hostId: string
  holderId: string
}

/**
 * Networks of a host (`self`) in which each tunnel address and each key belongs to at most one host (NET-61). Tunnels of all networks are
 * routed by the address, so a host that claims the address of another one would receive its traffic, even of networks that it is not a
 * member of. The host that held an address or key in `before` keeps it. A later claimant loses its address and key in the result, so it is
 * not reached by tunnels.
 */
export function resolveTunnelEnds(self: string, before: readonly NetworkOnHost[], after: readonly NetworkOnHost[]): ResolvedEnds {
  const holders = holdersOf(self, before, after)
  const doubts = new Map<string, Doubt>()
  const networks = after.map((network) => ({ ...network, members: network.members.map(resolve) }))
  return { networks, doubts: [...doubts.values()] }

  function resolve(member: NetworkMember): NetworkMember {
    const { hostId } = member
    if (member.hostAddress === null || !isEnd(member.hostAddress)) return { ...member, hostAddress: null, hostKey: null }
    const holderId = endsOf(member)
      .flatMap((end) => holders.get(end) ?? [])
      .find((holder) => holder !== hostId)
    if (holderId === undefined) return member
    doubts.set(hostId, { hostId, holderId })
    return { ...member, hostAddress: null, hostKey: null }
  }
}

/** Networks of a host without conflicting ends, and the conflicts. */
export interface ResolvedEnds {
  networks: NetworkOnHost[]
  doubts: Doubt[]
}

/** Host id by address and by key. Priority: `self`, then hosts that held the value in `before`, then the lowest host id. */
function holdersOf(self: string, before: readonly NetworkOnHost[], after: readonly NetworkOnHost[]): Map<string, string> {
  const had = new Set(membersOf(before).flatMap((member) => endsOf(member).map((end) => `${member.hostId} ${end}`)))
  const rank = (hostId: string, end: string) => (hostId === self ? 0 : had.has(`${hostId} ${end}`) ? 1 : 2)
  const holders = new Map<string, string>()
  for (const member of membersOf(after)) {
    for (const end of endsOf(member)) {
      const holder = holders.get(end)
      const order = holder === undefined ? -1 : rank(member.hostId, end) - rank(holder, end)
      if (order < 0 || (order === 0 && holder !== undefined && member.hostId < holder)) holders.set(end, member.hostId)
    }
  }
  return holders
}

function membersOf(networks: readonly NetworkOnHost[]): NetworkMember[] {
  return networks.flatMap(({ members }) => members)
}

function endsOf({ hostAddress, hostKey }: NetworkMember): string[] {
  return [hostAddress, hostKey].flatMap((end) => end ?? [])
}

/**
 * Whether a tunnel can lead to this address: IPv4 unicast, neither loopback nor link-local. An invalid value would keep a host from setting
 * up its other members too.
 */
function isEnd(address: string): boolean {
  const [first = 0, second = 0, ...rest] = address.split('.').map(Number)
  if (rest.length !== 2) return false
  return first > 0 && first !== LOOPBACK && first < MULTICAST && !(first === LINK[0] && second === LINK[1])
}

const LOOPBACK = 127
const MULTICAST = 224
const LINK = [169, 254]
