import { openDatabase } from '../../db/client.ts'
import { listHostDataCenters } from '../../db/hosts/data-centers.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import { type DataCenter, joinedDataCenter } from '../../domain/catalog/data-centers.ts'
import { dropFleet, FLEET_TTL_MS } from '../../effects/placement/fleet.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import type { VerbContext } from '../context.ts'

type Timed = Pick<VerbContext, 'env' | 'nowMs'>

const KEY = 'places'
const places = new ExpiringCache<readonly string[]>(FLEET_TTL_MS, 1)

/** Returns all data centers that a pod may name (RES-2): those of the catalog, then those that only hosts named. */
export async function listDataCenters({ env, nowMs }: Timed, { dataCenters }: Catalog): Promise<DataCenter[]> {
  const joined = await places.load(KEY, nowMs, () => listHostDataCenters(openDatabase(env.DB)))
  const listed = new Set(dataCenters.map(({ id }) => id))
  return [...dataCenters, ...joined.filter((id) => !listed.has(id)).map(joinedDataCenter)]
}

/** Drops this isolate's cached hosts and data centers. */
export function dropPlaces(): void {
  dropFleet()
  places.clear()
}
