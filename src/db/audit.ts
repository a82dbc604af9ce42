import { sql } from 'drizzle-orm'
import type { Database, Statement } from './client.ts'
import { audit } from './schema.ts'

export type AuditRow = typeof audit.$inferSelect

/**
 * Writes an audit row right behind the statement of the batch that makes the change: if that one has changed nothing, nothing is noted. It
 * changes one row itself then, so a statement that asks `changes()` may follow.
 */
export function insertAuditRow(db: Database, row: AuditRow): Statement {
  const { id, at, teamId, actorKind, userId, credentialId, action, resourceKind, resourceId, requestId } = row
  const values = sql`${id}, ${at}, ${teamId}, ${actorKind}, ${userId}, ${credentialId}, ${action}, ${resourceKind}, ${resourceId}, ${requestId}`
  const [before, after] = [row.before, row.after].map((state) => state && JSON.stringify(state))
  return db.insert(audit).select(sql`SELECT ${values}, ${before}, ${after} WHERE changes() > 0`)
}
