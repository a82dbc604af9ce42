import { type Database, openDatabase } from '../db/client.ts'
import { releaseCapacity } from '../db/hosts/capacity.ts'
import { listCapacityWaiters, removeCapacityWaiter } from '../db/hosts/capacity-waiters.ts'
import { findPlacementHost, listPlacementHosts } from '../db/hosts/placement-hosts.ts'
import { type PlacementHost, rankHosts } from '../domain/host/placement.ts'
import { placementRequestOf } from '../domain/worker/shape.ts'
import type { Env } from '../env.ts'
import { asPlane } from '../objects/ownership/as-plane.ts'
import { endpointStub } from '../objects/stubs.ts'
import { tryLogged } from '../platform/log.ts'
import { loadCatalog } from './catalog.ts'

/** Endpoints notified per capacity change, which limits how many compete for one free place. */
const MAX_NOTIFIED = 8
/** Waiting endpoints considered per capacity change, longest waiting first. */
const MAX_WAITERS_READ = 200

/** Releases the capacity of a workload and notifies endpoints that wait for capacity. Idempotent. */
export async function freeCapacity(env: Env, workloadId: string, hostId: string): Promise<void> {
  // A charge ends when the capacity becomes free, which is after the calls that ended the workload.
  await releaseCapacity(openDatabase(env.DB), workloadId, hostId, Date.now())
  void announceCapacity(env, hostId)
}

/**
 * Lets the endpoints that have waited longest and fit on the host where capacity became free try again, one after another (SCALE-15); null:
 * what changed is no host, such as a limit, so any host may do. Never throws, because no caller's work depends on it: a waiting endpoint that
 * was not notified retries by itself.
 */
export async function announceCapacity(env: Env, hostId: string | null): Promise<void> {
  await tryLogged('warn', 'waiting endpoints could not be notified of capacity', {}, () => notifyWaiters(env, hostId))
}

/** Removes an endpoint from the waiters: it has its capacity or does not need it any more. */
export async function dropCapacityWaiter(env: Env, endpointId: string): Promise<void> {
  await removeCapacityWaiter(openDatabase(env.DB), endpointId)
}

async function notifyWaiters(env: Env, hostId: string | null): Promise<void> {
  const db = openDatabase(env.DB)
  const waiters = await listCapacityWaiters(db, MAX_WAITERS_READ)
  if (waiters.length === 0) return
  const [hosts, catalog] = await Promise.all([hostId === null ? listPlacementHosts(db) : readHost(db, hostId), loadCatalog(env)])
  const fitting = waiters.filter((config) => rankHosts(placementRequestOf(catalog, config), hosts).candidates.length > 0)
  for (const { id } of fitting.slice(0, MAX_NOTIFIED)) {
    // A waiter whose need has passed would block the others for ever.
    if (!(await endpointStub(env, asPlane('endpoint', id, 'capacity appeared')).capacityAppeared())) await removeCapacityWaiter(db, id)
  }
}

async function readHost(db: Database, hostId: string): Promise<PlacementHost[]> {
  const host = await findPlacementHost(db, hostId)
  return host ? [host] : []
}
