import { and, asc, desc, eq, gte, type SQL, sql } from 'drizzle-orm'
import type { Opening, OpeningClass } from '../../domain/host/openings.ts'
import type { PlacementStrategy } from '../../domain/host/placement.ts'
import type { Database } from '../client.ts'
import { openings } from '../tables/hosts/openings.ts'

/** The type of GPU in the rows of a host for workloads without GPUs. */
const NO_GPU = ''

/** The openings of a class with one number of free GPUs, from behind one of them on. */
export interface OpeningQuery {
  of: OpeningClass
  gpusFree: number
  after: Opening | null
}

/**
 * For each class, the numbers of free GPUs of the hosts that may have enough vCPUs, in the order of the strategy. It reads a few rows for
 * each number and none for a host.
 */
export async function listLevels(db: Database, classes: readonly OpeningClass[], strategy: PlacementStrategy): Promise<number[][]> {
  const [first, ...rest] = classes.map((one) => selectLevels(db, one, strategy))
  if (!first) return []
  return (await db.batch([first, ...rest])).map((rows) => rows.map(({ gpusFree }) => gpusFree))
}

// Each number is found from the one before by the index, so that the hosts between two numbers are not read. MIN and MAX would read them.
function selectLevels(db: Database, one: OpeningClass, strategy: PlacementStrategy) {
  const direction = strategy === 'pack' ? sql`ASC` : sql`DESC`
  const next = (more: SQL) =>
    sql`(SELECT gpus_free FROM openings WHERE ${isOfClass(one)} AND ${more} ORDER BY gpus_free ${direction} LIMIT 1)`
  const first = next(sql`gpus_free >= ${one.gpu?.count ?? 0}`)
  const following = next(strategy === 'pack' ? sql`gpus_free > level` : sql`gpus_free < level AND gpus_free >= ${one.gpu?.count ?? 0}`)
  const mostVcpus = sql`(SELECT vcpu_free FROM openings WHERE ${isOfClass(one)} AND gpus_free = level ORDER BY vcpu_free DESC LIMIT 1)`
  return db.select({ gpusFree: sql<number>`level`.as('level') }).from(sql`(WITH RECURSIVE levels (level) AS (
    SELECT ${first} UNION ALL SELECT ${following} FROM levels WHERE level IS NOT NULL)
    SELECT level FROM levels WHERE level IS NOT NULL AND ${mostVcpus} >= ${one.vcpus})`)
}

/** At most `limit` openings for each query, in the order of the strategy. It reads the index alone. */
export async function listOpenings(
  db: Database,
  queries: readonly OpeningQuery[],
  strategy: PlacementStrategy,
  limit: number,
): Promise<Opening[][]> {
  const [first, ...rest] = queries.map((one) => selectOpenings(db, one, strategy, limit))
  return first ? await db.batch([first, ...rest]) : []
}

function selectOpenings(db: Database, { of, gpusFree, after }: OpeningQuery, strategy: PlacementStrategy, limit: number) {
  const { hostId, vcpuFree } = openings
  const [direction, beyond] = strategy === 'pack' ? [asc, sql`>`] : [desc, sql`<`]
  const behind = after ? sql`(${vcpuFree}, ${hostId}) ${beyond} (${after.vcpuFree}, ${after.hostId})` : undefined
  const fits = [gte(openings.free, of.gpu?.count ?? 0), gte(openings.memoryMbFree, of.memoryMb), gte(openings.diskGbFree, of.diskGb)]
  return db
    .select({ hostId, gpusFree: openings.gpusFree, vcpuFree })
    .from(openings)
    .where(and(isOfClass(of), eq(openings.gpusFree, gpusFree), gte(vcpuFree, of.vcpus), behind, ...fits))
    .orderBy(direction(vcpuFree), direction(hostId))
    .limit(limit)
}

function isOfClass({ gpu, cloud, dataCenterId, tenant }: OpeningClass): SQL {
  const place = dataCenterId === null ? sql`` : sql` AND data_center_id = ${dataCenterId}`
  return sql`gpu_type_id = ${gpu?.typeId ?? NO_GPU}${place} AND cloud = ${cloud} AND tenant = ${tenant}`
}
