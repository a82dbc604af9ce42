import { and, asc, eq, gt, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { TO_RUN } from '../../domain/pod/pod.ts'
import type { Database, Records, Statement } from '../client.ts'
import { openPod, type PodRow } from '../pods/sealed-pod.ts'
import { endpoints, pods, teams } from '../schema.ts'

/** Rows of one look. */
const BATCH = 100

/** Suspends a team, or ends that with null. Repeating it changes nothing but the time. */
export async function writeSuspension(db: Database, teamId: string, sinceMs: number | null, note: Statement): Promise<void> {
  await db.batch([db.update(teams).set({ suspendedAt: sinceMs }).where(eq(teams.id, teamId)), note])
}

/** Since when a team is suspended; null when it is not. */
export async function findSuspension(db: Database, teamId: string): Promise<number | null> {
  const row = await db.select({ suspendedAt: teams.suspendedAt }).from(teams).where(eq(teams.id, teamId)).get()
  return row?.suspendedAt ?? null
}

/** A condition of statements that give a team something of a host: keys that other isolates remember must not (PP-214, TEAM-14). */
export function isActive(teamId: string): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM teams WHERE id = ${teamId} AND (suspended_at IS NOT NULL OR deleted_at IS NOT NULL))`
}

/** Ids of a team's live endpoints behind `afterId`, in order; none: that were all. */
export async function listEndpointIds(db: Database, teamId: string, afterId: string): Promise<string[]> {
  const rows = await db
    .select({ id: endpoints.id })
    .from(endpoints)
    .where(and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt), gt(endpoints.id, afterId)))
    .orderBy(asc(endpoints.id))
    .limit(BATCH)
  return rows.map(({ id }) => id)
}

/** A team's pods behind `afterId` that are to run, or were stopped for this reason. */
export async function listPodsToSuspend(db: Records, teamId: string, afterId: string, reason: string): Promise<PodRow[]> {
  const stopped = sql`${pods.status} = 'EXITED' AND ${pods.statusReason} = ${reason}`
  const rows = await db
    .select()
    .from(pods)
    .where(
      and(
        eq(pods.teamId, teamId),
        gt(pods.id, afterId),
        sql`(${inArray(pods.status, [...TO_RUN])} OR ${pods.hostLost} = 1 OR (${stopped}))`,
      ),
    )
    .orderBy(asc(pods.id))
    .limit(BATCH)
  return rows.map((row) => openPod(db.vault, row))
}
