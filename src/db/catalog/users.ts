import { and, desc, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import type { Lost } from '../../domain/catalog/change.ts'
import type { PricedEndpoint } from '../../domain/plan/catalog.ts'
import type { Database } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { allocations } from '../tables/hosts/hosts.ts'
import { networkVolumes } from '../tables/resources/volumes.ts'
import { endpoints } from '../tables/workloads/endpoints.ts'
import { pods } from '../tables/workloads/pods.ts'

/**
 * The first user found of any of these catalog items, as text; null: there is none. Reads whole tables, which is acceptable for the
 * operator's rare changes.
 */
export async function findCatalogUser(db: Database, { gpuTypeIds, pools, cpuFlavorIds, dataCenterIds }: Lost): Promise<string | null> {
  const typeOf = sql`json_extract(${pods.spec}, '$.compute.typeId')`
  const flavorOf = sql`json_extract(${pods.spec}, '$.compute.flavorId')`
  const [pod, worker, endpoint, volume] = await Promise.all([
    db
      .select({ id: pods.id })
      .from(pods)
      .where(and(ne(pods.status, 'TERMINATED'), or(isOneOf(typeOf, gpuTypeIds), isOneOf(flavorOf, cpuFlavorIds))))
      .limit(1)
      .get(),
    db.select({ id: allocations.id }).from(allocations).where(isOneOf(allocations.gpuTypeId, gpuTypeIds)).limit(1).get(),
    db
      .select({ id: endpoints.id })
      .from(endpoints)
      .where(
        and(
          isNull(endpoints.deletedAt),
          or(names('pools', sql`value`, pools), names('options', sql`json_extract(value, '$.id')`, cpuFlavorIds)),
        ),
      )
      .limit(1)
      .get(),
    db.select({ id: networkVolumes.id }).from(networkVolumes).where(isOneOf(networkVolumes.dataCenterId, dataCenterIds)).limit(1).get(),
  ])
  if (pod) return `pod ${pod.id}`
  if (worker) return `workload ${worker.id}`
  if (endpoint) return `endpoint ${endpoint.id}`
  return volume ? `network volume ${volume.id}` : null
}

/** Number of live pods with a GPU type or CPU flavor; of all live pods without an id. */
export async function countPodsMadeWith(db: Database, id?: string): Promise<number> {
  const isOf =
    id === undefined
      ? undefined
      : sql`${id} IN (json_extract(${pods.spec}, '$.compute.typeId'), json_extract(${pods.spec}, '$.compute.flavorId'))`
  return db.$count(pods, and(ne(pods.status, 'TERMINATED'), isOf))
}

/** Number of network volumes. */
export async function countNetworkVolumes(db: Database): Promise<number> {
  return db.$count(networkVolumes)
}

/** The newest endpoints of all accounts, reduced to the fields that determine the cost of their workers, and the number of older ones. */
export async function listPricedEndpoints(db: Database, limit: number): Promise<{ endpoints: PricedEndpoint[]; leftOut: number }> {
  const rows = await db
    .select({ config: endpoints.config, total: sql<number>`COUNT(*) OVER ()` })
    .from(endpoints)
    .where(isNull(endpoints.deletedAt))
    .orderBy(desc(endpoints.createdAt))
    .limit(limit)
  const priced = rows.map(({ config: { id, name, teamId, compute, dataCenterIds, volumeAt, cloud, container } }) => ({
    ...{ id, name, teamId, compute, dataCenterIds, ...(volumeAt && { volumeAt }), ...(cloud && { cloud }) },
    container: { image: container.image, diskGb: container.diskGb },
  }))
  return { endpoints: priced, leftOut: (rows[0]?.total ?? 0) - rows.length }
}

function names(list: 'pools' | 'options', value: SQL, wanted: readonly string[]): SQL {
  if (wanted.length === 0) return sql`0`
  return sql`EXISTS (SELECT 1 FROM json_each(${endpoints.config}, ${`$.compute.${list}`}) WHERE ${isOneOf(value, wanted)})`
}
