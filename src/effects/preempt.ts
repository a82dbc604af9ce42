import { openDatabase } from '../db/client.ts'
import { listEndpointNames, listHeldCapacity, listHostsOfTeam } from '../db/hosts/held-capacity.ts'
import { findPlacementHosts } from '../db/hosts/placement-hosts.ts'
import type { EndpointConfig } from '../domain/endpoint/record.ts'
import type { PlacementHost, PlacementRequest } from '../domain/host/placement.ts'
import { describeHolders, isWorker } from '../domain/preemption/holders-text.ts'
import { asLeaving, type CapacityOffer } from '../domain/preemption/offers.ts'
import {
  type CapacitySearch,
  type HeldCapacity,
  mayDisplace,
  planPreemption,
  promisingHosts,
} from '../domain/preemption/plan-preemption.ts'
import type { Env } from '../env.ts'
import { asPlane } from '../objects/ownership/as-plane.ts'
import { endpointStub } from '../objects/stubs.ts'
import { mapAtOnce } from '../platform/at-once.ts'
import { logEvent } from '../platform/log.ts'

/** A worker that fits on no host. */
interface Placeless {
  config: EndpointConfig
  isForJob: boolean
  leavingIds: readonly string[]
}

type Offers = ReadonlyMap<string, CapacityOffer>

/** Hosts considered for one worker, those with workers of its account first: as many as endpoints are asked. */
const MAX_HOSTS = 16
/** Endpoints asked for one worker: at most this many of the own account, and as many of others. */
const MAX_ASKED = 16

/**
 * Preempts idle workers for a job that fits nowhere (PREEMPT-1, PREEMPT-4); the endpoint is notified of the capacity once they are gone.
 * Returns a text for the owner of the endpoint that says what holds the capacity (PREEMPT-6); null when nothing holds any that would fit.
 */
export async function preemptFor(
  env: Env,
  { config, isForJob, leavingIds }: Placeless,
  request: PlacementRequest,
  everyHost: readonly PlacementHost[],
): Promise<string | null> {
  const db = openDatabase(env.DB)
  const { id: endpointId, teamId } = config
  const hosts = await chooseHosts(env, teamId, request, everyHost)
  const allocations = await listHeldCapacity(
    db,
    hosts.map(({ id }) => id),
  )
  const ownIds = ownersOf(allocations.filter((allocation) => isWorker(allocation) && allocation.teamId === teamId))
  const toAsk = ownIds.filter((id) => id !== endpointId)
  const offers = isForJob ? await askAll(env, endpointId, toAsk, true) : new Map()
  const search = { teamId, request, hosts, allocations, offers, leavingIds: new Set(leavingIds) }
  const gone = isForJob ? await findRoom(env, endpointId, search) : new Set<string>()
  const names = await listEndpointNames(db, teamId, ownIds)
  return describeHolders({ teamId, endpointId, request, allocations, offers: asLeaving(offers, gone), names })
}

// Every host is a few seconds old (PLACE-2), but a plan needs what is free now, also on a host of the account that came online since.
async function chooseHosts(
  env: Env,
  teamId: string,
  request: PlacementRequest,
  everyHost: readonly PlacementHost[],
): Promise<PlacementHost[]> {
  const db = openDatabase(env.DB)
  const own = await listHostsOfTeam(db, teamId)
  const promising = promisingHosts(request, everyHost).toSorted((a, b) => Number(own.has(b.id)) - Number(own.has(a.id)))
  const known = new Set(everyHost.map(({ id }) => id))
  const chosen = [...own].filter((id) => !known.has(id)).concat(promising.map(({ id }) => id))
  const hostIds = chosen.slice(0, MAX_HOSTS)
  const hosts = new Map((await findPlacementHosts(db, hostIds, { teamId, sharesDisk: false })).map((host) => [host.id, host]))
  return promisingHosts(
    request,
    hostIds.flatMap((id) => hosts.get(id) ?? []),
  )
}

/** Returns the ids of the workers that leave. Other accounts are asked only when the account's own workers do not free enough. */
async function findRoom(env: Env, endpointId: string, search: CapacitySearch): Promise<ReadonlySet<string>> {
  const own = planPreemption(search)
  if (own.kind !== 'none') return carryOut(env, endpointId, search, search.offers)
  const others = await askAll(env, endpointId, othersToAsk(search), false)
  return carryOut(env, endpointId, search, new Map([...search.offers, ...others]))
}

async function carryOut(env: Env, endpointId: string, search: CapacitySearch, offers: Offers): Promise<ReadonlySet<string>> {
  const plan = planPreemption({ ...search, offers })
  const gone = new Set<string>()
  if (plan.kind !== 'displace') return gone
  for (const [id, workers] of Map.groupBy(plan.workers, (worker) => worker.endpointId)) {
    const workerIds = workers.map(({ workerId }) => workerId)
    const seeker = { endpointId, own: search.offers.has(id) }
    // An endpoint that has work again since its answer keeps its workers, so the remaining ones need not leave either.
    if (!(await endpointStub(env, asPlane('endpoint', id, 'preempts workers')).preempt({ seeker, workerIds }))) break
    for (const workerId of workerIds) gone.add(workerId)
  }
  return gone
}

async function askAll(env: Env, endpointId: string, ids: readonly string[], own: boolean): Promise<Map<string, CapacityOffer>> {
  const answers = await mapAtOnce(ids.slice(0, MAX_ASKED), async (id): Promise<[string, CapacityOffer][]> => {
    try {
      return [[id, await endpointStub(env, asPlane('endpoint', id, 'preempts workers')).requestCapacity({ endpointId, own })]]
    } catch (error) {
      logEvent('warn', 'an endpoint could not be asked for room', { endpointId: id, error })
      return []
    }
  })
  return new Map(answers.flat())
}

function othersToAsk({ teamId, hosts, allocations }: CapacitySearch): string[] {
  const byHost = Map.groupBy(allocations, ({ hostId }) => hostId)
  const above = hosts.flatMap((host) => {
    const held = byHost.get(host.id) ?? []
    return held.filter((one) => isWorker(one) && one.teamId !== teamId && mayDisplace(teamId, one.teamId, host, held))
  })
  return ownersOf(above)
}

function ownersOf(allocations: readonly HeldCapacity[]): string[] {
  return [...new Set(allocations.map(({ ownerId }) => ownerId))]
}
