import { type SQL, sql } from 'drizzle-orm'
import type { Database, Statement } from './client.ts'
import { audit } from './schema.ts'

export type AuditRow = typeof audit.$inferSelect
/** A row to be written; its team may be known to the database alone. */
export type NewAuditRow = Omit<AuditRow, 'teamId'> & { teamId: string | SQL<string> | null }

/**
 * Writes an audit row right behind the statement of the batch that makes the change: if that one has changed nothing, nothing is noted. It
 * changes one row itself then, so a statement that asks `changes()` may follow.
 */
export function insertAuditRow(db: Database, row: NewAuditRow): Statement {
  const { id, at, teamId, actorKind, userId, credentialId, action, resourceKind, resourceId, requestId } = row
  const values = sql`${id}, ${at}, ${teamId}, ${actorKind}, ${userId}, ${credentialId}, ${action}, ${resourceKind}, ${resourceId}, ${requestId}`
  const [before, after] = [row.before, row.after].map((state) => state && JSON.stringify(state))
  return db.insert(audit).select(sql`SELECT ${values}, ${before}, ${after} WHERE changes() > 0`)
}

/** Writes rows about changes that were made elsewhere; one that is there already stays as it is. */
export async function insertAuditRows(db: Database, rows: readonly AuditRow[]): Promise<void> {
  const [first, ...others] = rows.map((row) => db.insert(audit).values(row).onConflictDoNothing())
  if (first) await db.batch([first, ...others])
}
