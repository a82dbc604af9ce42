import { openDatabase } from '../../db/client.ts'
import { listPlacementHosts } from '../../db/hosts/capacity.ts'
import { listHostDataCenters } from '../../db/hosts/data-centers.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import { type DataCenter, joinedDataCenter } from '../../domain/catalog/data-centers.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import type { VerbContext } from '../context.ts'

/** Maximum age of the hosts that availability is computed from (CAT-13). */
export const FLEET_TTL_MS = 5_000

type Timed = Pick<VerbContext, 'env' | 'nowMs'>

const KEY = 'fleet'
const hosts = new ExpiringCache<readonly PlacementHost[]>(FLEET_TTL_MS, 1)
const places = new ExpiringCache<readonly string[]>(FLEET_TTL_MS, 1)

/** Returns the hosts that placement chooses from, at most `FLEET_TTL_MS` old. */
export function loadFleet({ env, nowMs }: Timed): Promise<readonly PlacementHost[]> {
  return hosts.load(KEY, nowMs, () => listPlacementHosts(openDatabase(env.DB)))
}

/** Returns all data centers that a pod may name (RES-2): those of the catalog, then those that only hosts named. */
export async function listDataCenters({ env, nowMs }: Timed, { dataCenters }: Catalog): Promise<DataCenter[]> {
  const joined = await places.load(KEY, nowMs, () => listHostDataCenters(openDatabase(env.DB)))
  const listed = new Set(dataCenters.map(({ id }) => id))
  return [...dataCenters, ...joined.filter((id) => !listed.has(id)).map(joinedDataCenter)]
}

/** Drops this isolate's cached hosts and data centers. */
export function dropFleet(): void {
  hosts.clear()
  places.clear()
}
