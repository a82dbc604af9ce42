import { and, count, eq, sql } from 'drizzle-orm'
import { IS_POD_TO_RUN } from '../billing/spend.ts'
import type { Database } from '../client.ts'
import { pods } from '../schema.ts'

/** Number of a team's pods whose desired state is running. */
export async function countRunningPods(db: Database, teamId: string): Promise<number> {
  const row = await db
    .select({ running: count() })
    .from(pods)
    // Verbatim as in the index of live pods.
    .where(and(eq(pods.teamId, teamId), sql`${pods.status} <> 'TERMINATED'`, IS_POD_TO_RUN))
    .get()
  return row?.running ?? 0
}
