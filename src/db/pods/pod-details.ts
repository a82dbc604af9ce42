import { and, eq, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { pods } from '../schema.ts'

/** Columns of a team's pods with these ids. The ids are one parameter, because D1 allows at most a hundred. */
export function findPodDetails(db: Database, teamId: string, ids: readonly string[]) {
  return db
    .select({
      id: pods.id,
      hostId: pods.hostId,
      sshSuffix: pods.sshSuffix,
      isInterruptible: sql<number | null>`json_extract(${pods.spec}, '$.interruptible')`,
    })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), isOneOf(pods.id, ids)))
}
