import { and, eq, not, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database, Statement } from '../client.ts'

export type DeleteOutcome = 'deleted' | 'unknown' | 'usedByPod' | 'usedByEndpoint'

/** Conditions that are true while something uses a resource; `byEndpoint` only where endpoints can name one. */
export interface ResourceUsers {
  byPod: SQL
  byEndpoint?: SQL
}

/**
 * Deletes a team's row unless something uses it, and says why not. Decided inside the DELETE, so that no create can slip in between;
 * the reason is read in the same transaction. `together` is for statements that look at whether it was deleted.
 */
export async function deleteUnused(
  db: Database,
  table: SQLiteTable & { id: SQLiteColumn; teamId: SQLiteColumn },
  teamId: string,
  id: string,
  { byPod, byEndpoint }: ResourceUsers,
  together: readonly Statement[],
): Promise<DeleteOutcome> {
  const owned = and(eq(table.teamId, teamId), eq(table.id, id))
  const used = or(byPod, byEndpoint) ?? byPod
  const [result, [kept]] = await db.batch([
    db.delete(table).where(and(owned, not(used))),
    db
      .select({ byPod: sql<number>`${byPod}` })
      .from(table)
      .where(owned),
    ...together,
  ])
  if (result.meta.changes > 0) return 'deleted'
  if (!kept) return 'unknown'
  return kept.byPod ? 'usedByPod' : 'usedByEndpoint'
}
