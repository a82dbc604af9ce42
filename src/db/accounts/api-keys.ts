import { and, desc, eq, getTableColumns, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Role } from '../../domain/access.ts'
import type { Database, Statement } from '../client.ts'
import { apiKeys, memberships, teams, users } from '../schema.ts'
import { suspendedSince } from './suspension.ts'

export type ApiKeyRow = typeof apiKeys.$inferSelect

/** The personal account of who made a key. */
const makers = alias(teams, 'makers')

/** A key with what its team and its maker are at this moment; it is suspended with either of them (PP-214, DER-20). */
export type KnownApiKey = ApiKeyRow & { suspendedAt: number | null; role: Role }

/**
 * The key of that id, revoked and expired ones included; undefined when there is none, and when its maker has left the team (TEAM-1). Keys are
 * found before any team is known.
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

/** A key as it is stored, whoever owns it: for the operator. */
export function findKeyRow(db: Database, id: string): Promise<ApiKeyRow | undefined> {
  return db.select().from(apiKeys).where(eq(apiKeys.id, id)).get()
}

/** Stores a new key. */
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

/** The team of a key, as a value of SQL. */
export function teamOfKey(id: string): SQL<string> {
  return sql<string>`(SELECT team_id FROM api_keys WHERE id = ${id})`
}

/** How exactly the last use of a key is known. */
const TOUCH_INTERVAL_MS = 60_000

/** Notes that a key was used, at most once a minute: however many isolates meet it, a key costs D1 one write. */
export async function touchApiKey(db: Database, id: string, nowMs: number): Promise<void> {
  const isOld = or(isNull(apiKeys.lastUsedAt), lte(apiKeys.lastUsedAt, nowMs - TOUCH_INTERVAL_MS))
  await db
    .update(apiKeys)
    .set({ lastUsedAt: nowMs })
    .where(and(eq(apiKeys.id, id), isOld))
}
