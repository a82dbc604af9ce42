import { and, count, eq, sql } from 'drizzle-orm'
import { IS_POD_TO_RUN } from '../billing/spend.ts'
import type { Database } from '../client.ts'
import { pods } from '../schema.ts'

/** How many pods of a team are to run. */
export async function countRunningPods(db: Database, teamId: string): Promise<number> {
  const row = await db
    .select({ running: count() })
    .from(pods)
    // What the index of live pods asks for, word for word.
    .where(and(eq(pods.teamId, teamId), sql`${pods.status} <> 'TERMINATED'`, IS_POD_TO_RUN))
    .get()
  return row?.running ?? 0
}
