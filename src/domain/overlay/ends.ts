import type { NetworkMember, NetworkOnHost } from './host-overlays.ts'

/** Where tunnels of a host end, as it says: nobody else can tell whether that is so. Pure. */

/** A host that is not believed, because another one says the same. */
export interface Doubt {
  hostId: string
  holderId: string
}

/**
 * The networks of a host (`self`) with one host at most for each address and for each key (NET-61). Tunnels of all networks go by the address, so
 * a host that says another's would be sent what is the other's, of networks too that it is not in. Who had it, as `before` says, keeps it. Who
 * comes later is on no host that is reached.
 */
export function settleEnds(self: string, before: readonly NetworkOnHost[], after: readonly NetworkOnHost[]): Settled {
  const holders = holdersOf(self, before, after)
  const doubts = new Map<string, Doubt>()
  const networks = after.map((network) => ({ ...network, members: network.members.map(settle) }))
  return { networks, doubts: [...doubts.values()] }

  function settle(member: NetworkMember): NetworkMember {
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

export interface Settled {
  networks: NetworkOnHost[]
  doubts: Doubt[]
}

/** Whose each address and key is: the host's own, then those of who had them, then by the id. */
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

/** Whether a tunnel can lead there: an IPv4 address of one machine. Some other word would keep a host from setting up what it has beside it. */
function isEnd(address: string): boolean {
  const [first = 0, second = 0, ...rest] = address.split('.').map(Number)
  if (rest.length !== 2) return false
  return first > 0 && first !== LOOPBACK && first < MULTICAST && !(first === LINK[0] && second === LINK[1])
}

const LOOPBACK = 127
const MULTICAST = 224
const LINK = [169, 254]
