import { and, desc, eq, gt, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Role } from '../../domain/access.ts'
import type { Database, Statement } from '../client.ts'
import { outcomeOf, required } from '../refusals.ts'
import { apiKeys, memberships } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import type { ApiKeyRow } from './api-keys.ts'
import { withinBudget } from './budgets.ts'

/** How long a revoked or expired key is listed; the audit log retains it longer. */
const ENDED_RETENTION_MS = 30 * 86_400_000
const MAX_LISTED = 1000

/** A member's role in a team; null for a user who is not a member. */
export async function findRole(db: Database, teamId: string, userId: string): Promise<Role | null> {
  const row = await db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.teamId, teamId), eq(memberships.userId, userId)))
    .get()
  return row?.role ?? null
}

/** Keys of a team, or of one of its members; newest first, without those that ended long ago. */
export function listTeamKeys(db: Database, teamId: string, userId: string | null, nowMs: number): Promise<ApiKeyRow[]> {
  const since = nowMs - ENDED_RETENTION_MS
  const isRecent = and(
    or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, since)),
    or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, since)),
  )
  return db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.teamId, teamId), userId === null ? undefined : eq(apiKeys.userId, userId), isRecent))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
    .limit(MAX_LISTED)
    .all()
}

/** A key of a team. */
export function findTeamKey(db: Database, teamId: string, id: string): Promise<ApiKeyRow | undefined> {
  return db.select().from(apiKeys).where(ownedBy(teamId, id)).get()
}

/** Stores a key together with other statements, or says that the team's budget is used up (BUDGET-1). Deletes keys that ended long ago. */
export async function insertOwnKey(db: Database, row: ApiKeyRow, together: readonly Statement[]): Promise<'done' | 'apiKeys'> {
  const id = sql<string>`(CASE WHEN ${required({ apiKeys: withinBudget(row.teamId, 'apiKeys', 1) })} THEN ${row.id} END)`
  return outcomeOf(db.batch([removeLongEnded(db, row), db.insert(apiKeys).values({ ...row, id }), ...together]), ['apiKeys'])
}

/**
 * Replaces a key by another; the replaced one stays valid until `untilMs` at most. False when it is not valid any more or replaced already.
 */
export async function replaceKey(db: Database, previous: ApiKeyRow, row: ApiKeyRow, untilMs: number, note: Statement): Promise<boolean> {
  const expiresAt = sql`MIN(COALESCE(${apiKeys.expiresAt}, ${untilMs}), ${untilMs})`
  const [{ meta }] = await db.batch([
    db
      .update(apiKeys)
      .set({ expiresAt, replacedBy: row.id })
      .where(and(ownedBy(previous.teamId, previous.id), isGood(row.createdAt), isNull(apiKeys.replacedBy))),
    // Rotation ignores the budget, because the replaced key ends within days.
    db.insert(apiKeys).select(selectOf(apiKeys, row, sql`WHERE changes() > 0`)),
    note,
  ])
  return meta.changes > 0
}

/** Revokes a key; false when it was revoked before. */
export async function revokeTeamKey(db: Database, { teamId, id }: ApiKeyRow, nowMs: number, note: Statement): Promise<boolean> {
  const [{ meta }] = await db.batch([
    db
      .update(apiKeys)
      .set({ revokedAt: nowMs })
      .where(and(ownedBy(teamId, id), isNull(apiKeys.revokedAt))),
    note,
  ])
  return meta.changes > 0
}

function removeLongEnded(db: Database, { teamId, createdAt: nowMs }: ApiKeyRow): Statement {
  const since = nowMs - ENDED_RETENTION_MS
  return db.delete(apiKeys).where(and(eq(apiKeys.teamId, teamId), or(lt(apiKeys.revokedAt, since), lt(apiKeys.expiresAt, since))))
}

/** Whether a key is valid at that time. */
export function isGood(nowMs: number): SQL | undefined {
  return and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, nowMs)))
}

function ownedBy(teamId: string, id: string): SQL | undefined {
  return and(eq(apiKeys.teamId, teamId), eq(apiKeys.id, id))
}
