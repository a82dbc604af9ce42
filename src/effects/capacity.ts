import { openDatabase } from '../db/client.ts'
import { listPlacementHosts, releaseCapacity } from '../db/hosts/capacity.ts'
import { listCapacityWaiters, removeCapacityWaiter } from '../db/hosts/capacity-waiters.ts'
import { rankHosts } from '../domain/host/placement.ts'
import { placementRequestOf } from '../domain/worker/shape.ts'
import type { Env } from '../env.ts'
import { asPlane } from '../objects/ownership/as-plane.ts'
import { endpointStub } from '../objects/stubs.ts'
import { logEvent } from '../platform/log.ts'
import { loadCatalog } from './catalog.ts'

/** Endpoints that are told of one piece of news: with many waiting for one place, no more than these try for it. */
const MAX_TOLD = 8
/** Waiting endpoints that are looked at for one piece of news, longest waiting first. */
const MAX_LOOKED_AT = 200

/** Gives a workload's capacity back and tells those who wait for some. Repeating it is harmless. */
export async function freeCapacity(env: Env, workloadId: string, hostId: string): Promise<void> {
  await releaseCapacity(openDatabase(env.DB), workloadId, hostId, Date.now())
  void announceCapacity(env)
}

/**
 * Capacity has appeared: the endpoints that have waited longest for what now fits somewhere try again, one after another (PP-53). Never
 * fails, because nobody's own work depends on it: a waiter that was not told tries by itself in the end.
 */
export async function announceCapacity(env: Env): Promise<void> {
  try {
    await tellWaiters(env)
  } catch (error) {
    logEvent('warn', 'waiting endpoints could not be told of capacity', { error })
  }
}

/** An endpoint has what it waited for, or wants it no more. */
export async function forgetCapacityWaiter(env: Env, endpointId: string): Promise<void> {
  await removeCapacityWaiter(openDatabase(env.DB), endpointId)
}

async function tellWaiters(env: Env): Promise<void> {
  const db = openDatabase(env.DB)
  const waiters = await listCapacityWaiters(db, MAX_LOOKED_AT)
  if (waiters.length === 0) return
  const [hosts, catalog] = await Promise.all([listPlacementHosts(db), loadCatalog(env)])
  const fitting = waiters.filter((config) => rankHosts(placementRequestOf(catalog, config), hosts).candidates.length > 0)
  for (const { id } of fitting.slice(0, MAX_TOLD)) {
    // One whose row outlived its need would stand in front of the others for ever.
    if (!(await endpointStub(env, asPlane('endpoint', id, 'capacity appeared')).capacityAppeared())) await removeCapacityWaiter(db, id)
  }
}
