import { type Database, openDatabase } from '../../db/client.ts'
import { listLevels, listOpenings } from '../../db/hosts/openings.ts'
import { findPlacementHosts, listPlacementHosts, listPodHosts } from '../../db/hosts/placement-hosts.ts'
import type { PlacementHost, PlacementStrategy } from '../../domain/host/placement.ts'
import type { Env } from '../../env.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import type { FleetReader } from './search.ts'

/** Maximum age of the hosts that availability is computed from (CAT-13), and that explain why a workload has no host (PLACE-2). */
export const FLEET_TTL_MS = 5_000

const KEY = 'fleet'
const fleets = new ExpiringCache<readonly PlacementHost[]>(FLEET_TTL_MS, 1)
const podFleets = new ExpiringCache<readonly PlacementHost[]>(FLEET_TTL_MS, 1)

/** Returns all online hosts, at most `FLEET_TTL_MS` old. */
export function loadFleet({ env, nowMs }: { env: Env; nowMs: number }): Promise<readonly PlacementHost[]> {
  return fleets.load(KEY, nowMs, () => listPlacementHosts(openDatabase(env.DB)))
}

/** Drops this isolate's cached hosts. */
export function dropFleet(): void {
  fleets.clear()
  podFleets.clear()
}

/** The team of the workload; with `sharesDisk` the disk share of its payer applies (SHR-41). */
interface For {
  teamId: string
  sharesDisk: boolean
}

/** Reads the index and the hosts of a plane, for a search. */
export function fleetReader(db: Database, strategy: PlacementStrategy, whose: For): FleetReader {
  return {
    levels: (classes) => listLevels(db, classes, strategy),
    page: (queries, limit) => listOpenings(db, queries, strategy, limit),
    hosts: (hostIds) => findPlacementHosts(db, hostIds, whose),
  }
}

/** Returns all online hosts as a pod of this team sees them (SHR-41), at most `FLEET_TTL_MS` old. */
export function loadPodFleet(env: Env, nowMs: number, teamId: string): Promise<readonly PlacementHost[]> {
  return podFleets.load(teamId, nowMs, () => listPodHosts(openDatabase(env.DB), teamId))
}

/**
 * Ranks a workload without a host in the index on the whole fleet, so that the refusals explain it. `load` returns hosts that are a few
 * seconds old, so that many workloads that wait cause one read (PLACE-2). If one of those fits, capacity has changed, and they are read
 * again.
 */
export async function rankFleet<Ranking extends { candidates: readonly unknown[] }>(
  load: () => Promise<readonly PlacementHost[]>,
  rank: (hosts: readonly PlacementHost[]) => Ranking,
): Promise<Ranking & { hosts: readonly PlacementHost[] }> {
  const known = await load()
  const ranking = rank(known)
  if (ranking.candidates.length === 0) return { ...ranking, hosts: known }
  dropFleet()
  const hosts = await load()
  return { ...rank(hosts), hosts }
}
