import { and, desc, eq, getTableColumns, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Role } from '../../domain/access.ts'
import type { Database, Statement } from '../client.ts'
import { apiKeys, memberships, teams, users } from '../schema.ts'
import { suspendedSince } from './suspension.ts'

export type ApiKeyRow = typeof apiKeys.$inferSelect

/** The personal account of a key's maker. */
const makers = alias(teams, 'makers')

/** A key with the current state of its team and maker; it is suspended with either of them (DER-40, DER-20). */
export type KnownApiKey = ApiKeyRow & { suspendedAt: number | null; role: Role }

/**
 * The key with this id, revoked and expired ones included; undefined when there is none, or its maker has left the team (TEAM-1). The
 * lookup needs no team, because a request's key comes before its team is known.
 */
export function findApiKey(db: Database, id: string): Promise<KnownApiKey | undefined> {
  return db
    .select({
      ...getTableColumns(apiKeys),
      suspendedAt: sql<number | null>`COALESCE(${suspendedSince(teams.id)}, ${makers.suspendedAt})`,
      role: memberships.role,
    })
    .from(apiKeys)
    .innerJoin(teams, and(eq(teams.id, apiKeys.teamId), isNull(teams.deletedAt)))
    .innerJoin(memberships, and(eq(memberships.teamId, apiKeys.teamId), eq(memberships.userId, apiKeys.userId)))
    .innerJoin(users, eq(users.id, apiKeys.userId))
    .innerJoin(makers, eq(makers.id, users.personalTeamId))
    .where(eq(apiKeys.id, id))
    .get()
}

/** A stored key of any owner, for the operator. */
export function findKeyRow(db: Database, id: string): Promise<ApiKeyRow | undefined> {
  return db.select().from(apiKeys).where(eq(apiKeys.id, id)).get()
}

/** Stores a new key with its audit row. */
export async function insertApiKey(db: Database, row: ApiKeyRow, note: Statement): Promise<void> {
  await db.batch([db.insert(apiKeys).values(row), note])
}

/** Keys of a user, newest first. */
export function listApiKeys(db: Database, userId: string): Promise<ApiKeyRow[]> {
  return db.select().from(apiKeys).where(eq(apiKeys.userId, userId)).orderBy(desc(apiKeys.createdAt), desc(apiKeys.id)).all()
}

/** Revokes a key; false when it does not exist or is revoked already. */
export async function revokeApiKey(db: Database, id: string, nowMs: number, note: Statement): Promise<boolean> {
  const revoke = db
    .update(apiKeys)
    .set({ revokedAt: nowMs })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
  const [result] = await db.batch([revoke, note])
  return result.meta.changes > 0
}

/** The team of a key, as an SQL value. */
export function teamOfKey(id: string): SQL<string> {
  return sql<string>`(SELECT team_id FROM api_keys WHERE id = ${id})`
}

/** Precision of a key's last use. */
const TOUCH_INTERVAL_MS = 60_000

/** Records the use of a key, at most once a minute: however many isolates see a key, it costs D1 one write a minute. */
export async function touchApiKey(db: Database, id: string, nowMs: number): Promise<void> {
  const isOld = or(isNull(apiKeys.lastUsedAt), lte(apiKeys.lastUsedAt, nowMs - TOUCH_INTERVAL_MS))
  await db
    .update(apiKeys)
    .set({ lastUsedAt: nowMs })
    .where(and(eq(apiKeys.id, id), isOld))
}
