import { and, asc, eq, gt, inArray, isNull, ne, sql } from 'drizzle-orm'
import { TO_RUN } from '../../domain/pod/pod.ts'
import type { Database, Records } from '../client.ts'
import { endpoints, pods } from '../schema.ts'
import { openPod, type PodRow } from '../sealed-pod.ts'

/** Rows per page of a sweep. */
const BATCH = 100

/** Ids of a team's live pods after `afterId`, and whether they are locked. */
export function listLivePodIds(db: Database, teamId: string, afterId: string): Promise<{ id: string; locked: boolean }[]> {
  return db
    .select({ id: pods.id, locked: pods.locked })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), ne(pods.status, 'TERMINATED'), gt(pods.id, afterId)))
    .orderBy(asc(pods.id))
    .limit(BATCH)
    .all()
}

/** Ids of a team's live endpoints after `afterId`, in order; empty at the end. */
export async function listEndpointIds(db: Database, teamId: string, afterId: string): Promise<string[]> {
  const rows = await db
    .select({ id: endpoints.id })
    .from(endpoints)
    .where(and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt), gt(endpoints.id, afterId)))
    .orderBy(asc(endpoints.id))
    .limit(BATCH)
  return rows.map(({ id }) => id)
}

/** A team's pods after `afterId` whose desired state is running, or that were stopped for this reason. */
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
