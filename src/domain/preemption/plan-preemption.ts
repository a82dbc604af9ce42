import { type PlacementHost, type PlacementRequest, rankHosts } from '../host/placement.ts'
import type { Resources } from '../host/resources.ts'
import { type CapacityOffer, mayGo } from './offers.ts'

/** Chooses the workers to preempt so that a worker that fits on no host gets capacity (PREEMPT-1, PREEMPT-4). Pure. */

/** The capacity that a workload holds on a host. */
export interface HeldCapacity extends Resources {
  /** The id of the worker or pod. */
  id: string
  hostId: string
  teamId: string
  kind: 'worker' | 'pod'
  /** The endpoint of a worker. */
  ownerId: string
}

/** A request that fits on no host at present. */
export interface CapacitySearch {
  /** The account that needs capacity. */
  teamId: string
  request: PlacementRequest
  /** The hosts that the request would fit if they were empty. */
  hosts: readonly PlacementHost[]
  /** All allocations on these hosts. */
  allocations: readonly HeldCapacity[]
  /** The answers of the endpoints that were asked, by their id. */
  offers: ReadonlyMap<string, CapacityOffer>
  /** Workers that are leaving, beside those in the offers. */
  leavingIds: ReadonlySet<string>
}

/** The workers to preempt for a request. */
export type PreemptionPlan =
  | { kind: 'none' }
  /** Enough workers are leaving already: the request waits for their capacity. */
  | { kind: 'pending' }
  | { kind: 'displace'; workers: { endpointId: string; workerId: string }[] }

interface Candidate {
  allocation: HeldCapacity
  own: boolean
  idleMs: number
}

/** The hosts that the request would fit if nothing ran on them. */
export function promisingHosts(request: PlacementRequest, hosts: readonly PlacementHost[]): PlacementHost[] {
  const fitting = new Set(rankHosts(request, hosts.map(emptied)).candidates.map(({ hostId }) => hostId))
  return hosts.filter(({ id }) => fitting.has(id))
}

/**
 * Chooses idle workers of one host whose capacity is enough: as few of other accounts as possible, then as few as possible, then those idle
 * for the longest time.
 */
export function planPreemption(search: CapacitySearch): PreemptionPlan {
  const byHost = Map.groupBy(search.allocations, ({ hostId }) => hostId)
  const leaving = new Set([...search.leavingIds, ...leavingOf(search.offers)])
  let best: Candidate[] | null = null
  for (const host of search.hosts) {
    const held = byHost.get(host.id) ?? []
    if (fits(search.request, host, held, leaving)) return { kind: 'pending' }
    const chosen = chooseOn(search, host, held, leaving)
    if (chosen && (best === null || isBetter(chosen, best))) best = chosen
  }
  if (!best) return { kind: 'none' }
  return { kind: 'displace', workers: best.map(({ allocation }) => ({ endpointId: allocation.ownerId, workerId: allocation.id })) }
}

/**
 * Whether a workload of one account may preempt idle workers of another on this host (PREEMPT-4): only if its account has less than an equal
 * share of the host, and the giver more.
 */
export function mayDisplace(seeker: string, giver: string, host: PlacementHost, held: readonly HeldCapacity[]): boolean {
  const accounts = new Set([seeker, ...held.map(({ teamId }) => teamId)]).size
  const shareOf = (teamId: string) =>
    dominantShare(
      host,
      held.filter((allocation) => allocation.teamId === teamId),
    )
  return shareOf(giver) * accounts > 1 && shareOf(seeker) * accounts < 1
}

/** The share of the host resource that these allocations use most. */
function dominantShare(host: PlacementHost, held: readonly HeldCapacity[]): number {
  const gpus = host.gpus.map(({ typeId, total }) => part(gpusOf(held, typeId), total))
  return Math.max(part(sum(held, 'vcpus'), host.vcpuTotal), part(sum(held, 'memoryMb'), host.memoryMbTotal), ...gpus)
}

function chooseOn(
  { teamId, request, offers }: CapacitySearch,
  host: PlacementHost,
  held: readonly HeldCapacity[],
  leaving: ReadonlySet<string>,
): Candidate[] | null {
  const staying = held.filter(({ id }) => !leaving.has(id))
  const candidates = candidatesOf(teamId, offers, host, staying)
  const isEnough = (chosen: readonly Candidate[]) =>
    fits(request, host, held, new Set([...leaving, ...chosen.map(({ allocation }) => allocation.id)]))
  const single = candidates.find((candidate) => isEnough([candidate]))
  if (single) return [single]
  if (!isEnough(candidates)) return null
  // Removes unneeded candidates from the end, so that workers of other accounts and those idle for the shortest time stay.
  return candidates.toReversed().reduce((chosen, candidate) => {
    const without = chosen.filter((other) => other !== candidate)
    return isEnough(without) ? without : chosen
  }, candidates)
}

function candidatesOf(
  seeker: string,
  offers: ReadonlyMap<string, CapacityOffer>,
  host: PlacementHost,
  staying: readonly HeldCapacity[],
): Candidate[] {
  const willing = staying.flatMap((allocation) => {
    const offer = offers.get(allocation.ownerId)
    const holder = offer?.holders.find(({ workerId }) => workerId === allocation.id)
    return offer && holder && mayGo(holder, offer) ? [{ allocation, own: allocation.teamId === seeker, idleMs: holder.idleMs }] : []
  })
  willing.sort((a, b) => Number(b.own) - Number(a.own) || b.idleMs - a.idleMs || (a.allocation.id < b.allocation.id ? -1 : 1))
  const spare = new Map([...offers].map(([endpointId, offer]) => [endpointId, offer.spare]))
  let left = staying
  return willing.filter(({ allocation, own }) => {
    const budget = spare.get(allocation.ownerId) ?? 0
    if (budget === 0 || !(own || mayDisplace(seeker, allocation.teamId, host, left))) return false
    spare.set(allocation.ownerId, budget - 1)
    left = left.filter((other) => other !== allocation)
    return true
  })
}

function isBetter(a: readonly Candidate[], b: readonly Candidate[]): boolean {
  const foreign = (chosen: readonly Candidate[]) => chosen.filter(({ own }) => !own).length
  const idleMs = (chosen: readonly Candidate[]) => Math.min(...chosen.map((candidate) => candidate.idleMs))
  return (foreign(a) - foreign(b) || a.length - b.length || idleMs(b) - idleMs(a)) < 0
}

function fits(request: PlacementRequest, host: PlacementHost, held: readonly HeldCapacity[], gone: ReadonlySet<string>): boolean {
  const left = held.filter(({ id }) => !gone.has(id))
  const freed = held.filter(({ id }) => gone.has(id))
  // Computed from the totals: a host that shrank below its allocations has a negative amount free.
  const room = {
    ...host,
    vcpuFree: host.vcpuTotal - sum(left, 'vcpus'),
    memoryMbFree: host.memoryMbTotal - sum(left, 'memoryMb'),
    diskGbFree: host.diskGbFree + sum(freed, 'diskGb'),
    gpus: host.gpus.map((gpu) => ({ ...gpu, free: gpu.total - gpusOf(left, gpu.typeId) })),
    heldBy: host.heldBy && left.map(({ teamId }) => teamId),
  }
  return rankHosts(request, [room]).candidates.length > 0
}

function emptied(host: PlacementHost): PlacementHost {
  const gpus = host.gpus.map((gpu) => ({ ...gpu, free: gpu.total }))
  return {
    ...host,
    heldBy: host.heldBy && [],
    vcpuFree: host.vcpuTotal,
    memoryMbFree: host.memoryMbTotal,
    diskGbFree: Number.POSITIVE_INFINITY,
    gpus,
  }
}

function leavingOf(offers: ReadonlyMap<string, CapacityOffer>): string[] {
  return [...offers.values()].flatMap(({ holders }) => holders.filter(({ use }) => use === 'leaving').map(({ workerId }) => workerId))
}

function sum(held: readonly HeldCapacity[], what: 'vcpus' | 'memoryMb' | 'diskGb'): number {
  return held.reduce((total, allocation) => total + allocation[what], 0)
}

function gpusOf(held: readonly HeldCapacity[], typeId: string): number {
  return held.reduce((total, { gpu }) => total + (gpu?.typeId === typeId ? gpu.count : 0), 0)
}

function part(held: number, total: number): number {
  return total === 0 ? 0 : held / total
}
