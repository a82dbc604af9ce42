import { and, desc, eq, sql } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { allocations, clusters, networkVolumes, pods } from '../schema.ts'
import { spendStops } from '../tables/billing/spend-stops.ts'
import { IS_POD_TO_RUN, POD_NANOS } from './spend.ts'

export type SpendStopRow = typeof spendStops.$inferSelect

/** Number of the newest stops of a team that are retained. */
const MAX_KEPT = 50
const MAX_ROWS = 5_000
// Verbatim as in the partial index.
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`

/** A team's stoppable resources and those that keep costing (SPD-10), read at one moment. */
export async function readStoppable(db: Database, teamId: string) {
  const { gpuNanosPerHour, cpuNanosPerHour, diskNanosPerHour } = allocations
  const [ofPods, ofWorkers, volumes] = await db.batch([
    db
      .select({
        id: pods.id,
        name: pods.name,
        clusterId: pods.clusterId,
        clusterName: sql<string | null>`${clusters.name}`.as('cluster_name'),
        version: pods.version,
        status: pods.status,
        locked: pods.locked,
        isToRun: sql<number>`${IS_POD_TO_RUN}`.as('is_to_run'),
        nanosPerHour: sql<number>`${POD_NANOS}`.as('nanos'),
        stoppedNanosPerHour: pods.stoppedDiskNanosPerHour,
      })
      .from(pods)
      .leftJoin(clusters, eq(clusters.id, pods.clusterId))
      .where(and(eq(pods.teamId, teamId), IS_LIVE))
      .orderBy(pods.id)
      .limit(MAX_ROWS),
    db
      .select({
        endpointId: allocations.ownerId,
        nanosPerHour: sql<number>`SUM(${gpuNanosPerHour} + ${cpuNanosPerHour} + ${diskNanosPerHour})`.as('nanos'),
      })
      .from(allocations)
      .where(and(eq(allocations.teamId, teamId), eq(allocations.kind, 'worker')))
      .groupBy(allocations.ownerId)
      .limit(MAX_ROWS),
    db
      .select({ id: networkVolumes.id, name: networkVolumes.name, nanosPerHour: networkVolumes.nanosPerHour })
      .from(networkVolumes)
      .where(eq(networkVolumes.teamId, teamId))
      .orderBy(networkVolumes.id)
      .limit(MAX_ROWS),
  ])
  return { pods: ofPods.map((pod) => ({ ...pod, isToRun: Boolean(pod.isToRun) })), workers: ofWorkers, volumes }
}

/** Records a stop before it is carried out; deletes the oldest beyond the retained number. */
export async function insertStop(db: Database, row: SpendStopRow, note: Statement): Promise<void> {
  const kept = db
    .select({ id: spendStops.id })
    .from(spendStops)
    .where(eq(spendStops.teamId, row.teamId))
    .orderBy(desc(spendStops.createdAtMs), desc(spendStops.id))
    .limit(MAX_KEPT)
  const dropOldest = db.delete(spendStops).where(and(eq(spendStops.teamId, row.teamId), sql`${spendStops.id} NOT IN ${kept}`))
  await db.batch([db.insert(spendStops).values(row), note, dropOldest])
}

/** Stores the outcome of a stop's items. */
export async function saveStop(
  db: Database,
  { id, teamId, items, undoneAtMs }: SpendStopRow,
  together: readonly Statement[] = [],
): Promise<void> {
  const save = db
    .update(spendStops)
    .set({ items, undoneAtMs })
    .where(and(eq(spendStops.teamId, teamId), eq(spendStops.id, id)))
  await db.batch([save, ...together])
}

/** A team's stops, newest first. */
export function listStops(db: Database, teamId: string): Promise<SpendStopRow[]> {
  return db
    .select()
    .from(spendStops)
    .where(eq(spendStops.teamId, teamId))
    .orderBy(desc(spendStops.createdAtMs), desc(spendStops.id))
    .limit(MAX_KEPT)
}

/** Returns a stop of an account by its id; undefined when the account has none of this id. */
export function findStop(db: Database, teamId: string, id: string): Promise<SpendStopRow | undefined> {
  return db
    .select()
    .from(spendStops)
    .where(and(eq(spendStops.teamId, teamId), eq(spendStops.id, id)))
    .get()
}
