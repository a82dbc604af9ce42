import { openDatabase } from '../db/client.ts'
import { listPlacementHosts, releaseCapacity } from '../db/hosts/capacity.ts'
import { listCapacityWaiters, removeCapacityWaiter } from '../db/hosts/capacity-waiters.ts'
import { rankHosts } from '../domain/host/placement.ts'
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
  void announceCapacity(env)
}

/**
 * Lets the endpoints that have waited longest and fit on some host try again, one after another, because capacity became free (SCALE-15).
 * Never throws, because no caller's work depends on it: a waiting endpoint that was not notified retries by itself.
 */
export async function announceCapacity(env: Env): Promise<void> {
  await tryLogged('warn', 'waiting endpoints could not be notified of capacity', {}, () => notifyWaiters(env))
}

/** Removes an endpoint from the waiters: it has its capacity or does not need it any more. */
export async function dropCapacityWaiter(env: Env, endpointId: string): Promise<void> {
  await removeCapacityWaiter(openDatabase(env.DB), endpointId)
}

async function notifyWaiters(env: Env): Promise<void> {
  const db = openDatabase(env.DB)
  const waiters = await listCapacityWaiters(db, MAX_WAITERS_READ)
  if (waiters.length === 0) return
  const [hosts, catalog] = await Promise.all([listPlacementHosts(db), loadCatalog(env)])
  const fitting = waiters.filter((config) => rankHosts(placementRequestOf(catalog, config), hosts).candidates.length > 0)
  for (const { id } of fitting.slice(0, MAX_NOTIFIED)) {
    // A waiter whose need has passed would block the others for ever.
    if (!(await endpointStub(env, asPlane('endpoint', id, 'capacity appeared')).capacityAppeared())) await removeCapacityWaiter(db, id)
  }
}
