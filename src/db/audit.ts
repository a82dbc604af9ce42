import { type SQL, sql } from 'drizzle-orm'
import type { Database, Statement } from './client.ts'
import { audit } from './schema.ts'
import { selectOf } from './select-of.ts'

export type AuditRow = typeof audit.$inferSelect
/** An audit row to be written; its team may be an SQL value. */
export type NewAuditRow = Omit<AuditRow, 'teamId'> & { teamId: string | SQL<string> | null }

/**
 * Writes an audit row directly after the statement of the batch that makes the change: if that changed nothing, no row is written. It then
 * changes one row itself, so a statement that uses `changes()` may follow.
 */
export function insertAuditRow(db: Database, row: NewAuditRow): Statement {
  return db.insert(audit).select(selectOf(audit, row, sql`WHERE changes() > 0`))
}

/** Writes audit rows of changes made elsewhere; existing rows are left unchanged. */
export async function insertAuditRows(db: Database, rows: readonly AuditRow[]): Promise<void> {
  const [first, ...others] = rows.map((row) => db.insert(audit).values(row).onConflictDoNothing())
  if (first) await db.batch([first, ...others])
}
