import { and, desc, eq, isNotNull, isNull, lt } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { joinTokens } from '../schema.ts'

export type JoinTokenRow = typeof joinTokens.$inferSelect

/** Largest number of tokens in a list, newest first. */
const MAX_LISTED = 1_000
/** How long a token is listed after its expiry, so that the operator sees its outcome. */
const RETENTION_AFTER_EXPIRY_MS = 30 * 24 * 60 * 60_000

/** Stores a single-use token's hash, and deletes tokens that expired long ago. */
export async function insertJoinToken(db: Database, row: JoinTokenRow, note: Statement): Promise<void> {
  await db.batch([
    db.delete(joinTokens).where(lt(joinTokens.expiresAt, row.createdAt - RETENTION_AFTER_EXPIRY_MS)),
    db.insert(joinTokens).values(row),
    note,
  ])
}

/** Tokens, including used and expired ones, newest first. */
export async function listJoinTokens(db: Database): Promise<(JoinTokenRow & { id: string })[]> {
  const rows = await db
    .select()
    .from(joinTokens)
    .where(isNotNull(joinTokens.id))
    .orderBy(desc(joinTokens.createdAt), joinTokens.id)
    .limit(MAX_LISTED)
  return rows.flatMap((row) => (row.id === null ? [] : [{ ...row, id: row.id }]))
}

/** A token by its id. */
export function findJoinToken(db: Database, id: string): Promise<JoinTokenRow | undefined> {
  return db.select().from(joinTokens).where(eq(joinTokens.id, id)).get()
}

/** Deletes an unused token. 'used' when a host has joined with it, even concurrently; 'unknown' when there is none. */
export async function deleteUnusedJoinToken(db: Database, id: string, note: Statement): Promise<'deleted' | 'used' | 'unknown'> {
  const [result] = await db.batch([db.delete(joinTokens).where(and(eq(joinTokens.id, id), isNull(joinTokens.usedAt))), note])
  if (result.meta.changes > 0) return 'deleted'
  const [row] = await db.select({ id: joinTokens.id }).from(joinTokens).where(eq(joinTokens.id, id))
  return row ? 'used' : 'unknown'
}
