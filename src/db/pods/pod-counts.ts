import { and, desc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { PodStatus } from '../../contract/enums.ts'
import type { Database } from '../client.ts'
import { pods } from '../schema.ts'

// Verbatim as in the partial index, which holds all columns that the counts read.
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`
/** Newest failed and waiting pods whose reasons are grouped: their rows are read. */
const MAX_EXAMINED = 1_000

/** Number of a team's live pods by status. */
export async function countPods(db: Database, teamId: string, withMembers: boolean): Promise<{ status: PodStatus; count: number }[]> {
  return db
    .select({ status: pods.status, count: sql<number>`count(*)` })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), IS_LIVE, ...(withMembers ? [] : [isNull(pods.clusterId)])))
    .groupBy(pods.status)
}

/** Pods of one status with the same reason. */
export interface PodReasonRow {
  status: PodStatus
  reason: string
  count: number
  podId: string
  podName: string
}

/** Why a team's newest live pods failed or wait: at most `limit` groups, failures first, then by size. */
export async function listReasons(db: Database, teamId: string, withMembers: boolean, limit: number): Promise<PodReasonRow[]> {
  const newest = db
    .select({ status: pods.status, reason: pods.statusReason, id: pods.id, name: pods.name, createdAt: pods.createdAtMs })
    .from(pods)
    .where(
      and(
        eq(pods.teamId, teamId),
        IS_LIVE,
        sql`${pods.status} IN ('ERROR', 'PROVISIONING', 'STARTING')`,
        ...(withMembers ? [] : [isNull(pods.clusterId)]),
      ),
    )
    .orderBy(desc(pods.createdAtMs), desc(pods.id))
    .limit(MAX_EXAMINED)
    .as('newest')
  const count = sql<number>`count(*)`
  return (
    db
      .select({ status: newest.status, reason: sql<string>`${newest.reason}`, count, podId: newest.id, podName: newest.name })
      .from(newest)
      .where(isNotNull(newest.reason))
      .groupBy(newest.status, newest.reason)
      // With max(), SQLite takes columns that are not grouped from the newest row.
      .orderBy(desc(sql`${newest.status} = 'ERROR'`), desc(count), desc(sql`max(${newest.createdAt})`))
      .limit(limit)
  )
}
