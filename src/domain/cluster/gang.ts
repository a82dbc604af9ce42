import { without } from '../availability.ts'
import type { ComputeShape, PlacementHost, PlacementStrategy, UnfitHost } from '../host/placement.ts'
import { type PodCandidate, podDiskGb, rankHostsForPod } from '../pod/place/placement.ts'
import type { PodSpec } from '../pod/record.ts'

/**
 * Places all members of a cluster in one data center, by repeated placement of one pod with the rules for pods, on copies of the hosts
 * (CLU-8). Pure.
 */

/** Hosts for all members of a cluster, or why they do not fit. */
export type Gang =
  | {
      ok: true
      dataCenterId: string
      /** The shape of every member: the same for all, so that a member can be moved and none is the slowest. */
      shape: ComputeShape
      /** By rank; neighbours in rank are on the same host where that is possible. */
      seats: PodCandidate[]
    }
  | {
      ok: false
      refusals: UnfitHost[]
      /** The data center with room for the most members, and their number; null: none has room for any. */
      nearest: { dataCenterId: string; members: number } | null
    }

/** A host and the members that it has room for. */
interface Room {
  host: PlacementHost
  seats: PodCandidate[]
}

interface DataCenterRoom {
  dataCenterId: string
  chosen: PodCandidate[]
  members: number
}

/**
 * Finds places for all members, or returns what is missing. The requested order of data centers decides first, then their number of hosts.
 */
export function placeGang(
  teamId: string,
  spec: PodSpec,
  podCount: number,
  hosts: readonly PlacementHost[],
  strategy: PlacementStrategy,
): Gang {
  const networked = hosts.filter(({ overlay }) => overlay !== undefined && overlay !== 'none')
  const ids = [...new Set(networked.map(({ dataCenterId }) => dataCenterId))].filter((id) => isWanted(spec, id))
  const found = ids.map((dataCenterId) => {
    const near = networked.filter((host) => host.dataCenterId === dataCenterId)
    return placeIn(dataCenterId, roomsOf(teamId, spec, podCount, near), podCount, strategy)
  })
  const [best] = found.filter(({ chosen }) => chosen.length === podCount).toSorted((a, b) => compare(spec, strategy, a, b))
  if (best) return { ok: true, dataCenterId: best.dataCenterId, shape: commonShape(best.chosen), seats: best.chosen }
  const [nearest] = found.toSorted((a, b) => b.members - a.members || (a.dataCenterId < b.dataCenterId ? -1 : 1))
  return {
    ok: false,
    refusals: refusalsOf(teamId, spec, hosts, strategy),
    nearest: nearest && nearest.members > 0 ? { dataCenterId: nearest.dataCenterId, members: nearest.members } : null,
  }
}

function isWanted({ dataCenterIds }: PodSpec, id: string): boolean {
  return dataCenterIds.length === 0 || dataCenterIds.includes(id)
}

// The requested order first, then the fewest hosts, or the most if members are to be spread; the id makes the order total.
function compare({ dataCenterIds }: PodSpec, strategy: PlacementStrategy, a: DataCenterRoom, b: DataCenterRoom): number {
  const order = (id: string) => dataCenterIds.indexOf(id)
  const hostsOf = ({ chosen }: DataCenterRoom) => new Set(chosen.map(({ hostId }) => hostId)).size
  const sign = strategy === 'pack' ? 1 : -1
  return order(a.dataCenterId) - order(b.dataCenterId) || sign * (hostsOf(a) - hostsOf(b)) || (a.dataCenterId < b.dataCenterId ? -1 : 1)
}

/** The members that each host has room for, at most `podCount`. */
function roomsOf(teamId: string, spec: PodSpec, podCount: number, hosts: readonly PlacementHost[]): Room[] {
  const diskGb = podDiskGb(spec)
  return hosts.flatMap((host) => {
    const seats: PodCandidate[] = []
    for (let left = host; seats.length < podCount; ) {
      const [seat] = rankHostsForPod(teamId, spec, [left], 'pack').candidates
      if (!seat) break
      seats.push(seat)
      left = without(left, { shape: seat.shape, diskGb })
    }
    return seats.length > 0 ? [{ host, seats }] : []
  })
}

function placeIn(dataCenterId: string, rooms: readonly Room[], podCount: number, strategy: PlacementStrategy): DataCenterRoom {
  // Members on one host need no tunnel to another host (CLU-15).
  const routed = rooms.filter(({ host }) => host.overlay === 'routed')
  const onOne = rooms.filter(({ seats }) => seats.length >= podCount)
  const tries = strategy === 'pack' ? [pack(onOne, podCount), pack(routed, podCount)] : [spread(routed, podCount), pack(onOne, podCount)]
  const chosen = tries.find((seats) => seats.length === podCount) ?? []
  const most = Math.max(0, ...rooms.map(({ seats }) => seats.length))
  const members = Math.min(
    podCount,
    Math.max(
      most,
      routed.reduce((sum, { seats }) => sum + seats.length, 0),
    ),
  )
  return { dataCenterId, chosen, members }
}

// Fills the hosts with the most room first; the rest goes to the host on which it leaves the least room.
function pack(rooms: readonly Room[], podCount: number): PodCandidate[] {
  const left = rooms.toSorted((a, b) => b.seats.length - a.seats.length || (a.host.id < b.host.id ? -1 : 1))
  const chosen: PodCandidate[] = []
  while (chosen.length < podCount && left.length > 0) {
    const missing = podCount - chosen.length
    const snug = left.findLastIndex(({ seats }) => seats.length >= missing)
    const [room] = left.splice(Math.max(0, snug), 1)
    chosen.push(...(room?.seats.slice(0, missing) ?? []))
  }
  return chosen
}

// Each member goes to the host with the fewest so far, of equals to the one with the most room. The result is ordered by host, so that
// neighbours in rank are together.
function spread(rooms: readonly Room[], podCount: number): PodCandidate[] {
  const taken = new Map(rooms.map((room) => [room, 0]))
  for (let placed = 0; placed < podCount; placed += 1) {
    const [best] = [...taken]
      .filter(([room, count]) => count < room.seats.length)
      .toSorted(([a, m], [b, n]) => m - n || b.seats.length - a.seats.length || (a.host.id < b.host.id ? -1 : 1))
    if (!best) break
    taken.set(best[0], best[1] + 1)
  }
  return [...taken].flatMap(([room, count]) => room.seats.slice(0, count))
}

/** The minimum of the shapes that the places grant. */
function commonShape(seats: readonly PodCandidate[]): ComputeShape {
  const shapes = seats.map(({ shape }) => shape)
  return {
    gpu: shapes[0]?.gpu ?? null,
    vcpus: Math.min(...shapes.map(({ vcpus }) => vcpus)),
    memoryMb: Math.min(...shapes.map(({ memoryMb }) => memoryMb)),
  }
}

// The constraints that a member fails on each host. A host that fits a single pod lacks the network, or room for the other members.
function refusalsOf(teamId: string, spec: PodSpec, hosts: readonly PlacementHost[], strategy: PlacementStrategy): UnfitHost[] {
  const { candidates, refusals } = rankHostsForPod(teamId, spec, hosts, strategy)
  const fitting = new Set(candidates.map(({ hostId }) => hostId))
  const unreached = hosts.filter(({ id, overlay }) => fitting.has(id) && overlay !== 'routed')
  return [...refusals, ...unreached.map(({ id }) => ({ hostId: id, failed: ['overlay: yes > none'] }))]
}
