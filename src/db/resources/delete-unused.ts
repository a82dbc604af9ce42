import { and, eq, not, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database, Statement } from '../client.ts'
import { isUsedByEndpoint, isUsedByPod, type ResourceUsers } from './resource-users.ts'

/** Outcome of a deletion. `changed`: the row differs from the one that the caller read. */
export type DeleteOutcome = 'deleted' | 'unknown' | 'changed' | 'usedByPod' | 'usedByEndpoint'

/**
 * Deletes a team's row unless something uses it, and returns the reason otherwise. Decided inside the DELETE, so that no create can come in
 * between; the reason is read in the same transaction. `isSame`: requires the row on which the decision was based, else 'changed'.
 * `together`: statements that depend on whether it was deleted. `inFront`: makes a statement that runs before the deletion, under the same
 * condition.
 */
export async function deleteUnused(
  db: Database,
  table: SQLiteTable & { id: SQLiteColumn; teamId: SQLiteColumn },
  teamId: string,
  id: string,
  isSame: SQL | undefined,
  users: ResourceUsers,
  together: readonly Statement[],
  inFront?: (isUnused: SQL | undefined) => Statement,
): Promise<DeleteOutcome> {
  const owned = and(eq(table.teamId, teamId), eq(table.id, id))
  const byPod = isUsedByPod(users)
  const used = or(byPod, isUsedByEndpoint(users)) ?? byPod
  const isUnused = and(owned, isSame, not(used))
  const nothing = db.select({ id: table.id }).from(table).where(sql`FALSE`)
  const [, result, [kept]] = await db.batch([
    inFront ? inFront(isUnused) : nothing,
    db.delete(table).where(isUnused),
    db
      .select({ byPod: sql<number>`${byPod}`, isSame: sql<number>`${isSame ?? sql`TRUE`}`.as('is_same') })
      .from(table)
      .where(owned),
    ...together,
  ])
  if (result.meta.changes > 0) return 'deleted'
  if (!kept) return 'unknown'
  if (!kept.isSame) return 'changed'
  return kept.byPod ? 'usedByPod' : 'usedByEndpoint'
}
