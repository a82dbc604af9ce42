import { and, count, eq, gt, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Role } from '../../domain/access.ts'
import type { Accounts } from '../../domain/session/accounts.ts'
import { MAX_CONSOLE_SESSIONS, MAX_SESSIONS_OF_KEY } from '../../domain/session/console.ts'
import { writeParent } from '../../domain/session/parent.ts'
import { accountsOf, MEMBERSHIP } from '../accounts/live-accounts.ts'
import type { Database, Statement } from '../client.ts'
import { apiKeys, consoleSessions, memberships, signInLinks, teams, users } from '../schema.ts'

export type ConsoleSessionRow = typeof consoleSessions.$inferSelect

/** A session that has not been signed out, with its user; null for the operator's. */
export interface FoundSession {
  row: ConsoleSessionRow
  user: { id: string; email: string; isDeleted: boolean; accounts: Accounts } | null
}

/** Expired rows that one sign-in deletes. */
const SWEPT = 100

/** A session by the hash of its secret, in one query; null when there is none, or it was ended. The caller checks its expiry. */
export async function findConsoleSession(db: Database, id: string): Promise<FoundSession | null> {
  const rows = await db
    .select({
      session: consoleSessions,
      email: users.email,
      own: users.personalTeamId,
      deletedAt: users.deletedAt,
      ...MEMBERSHIP,
    })
    .from(consoleSessions)
    .leftJoin(users, eq(users.id, consoleSessions.userId))
    .leftJoin(memberships, eq(memberships.userId, users.id))
    .leftJoin(teams, and(eq(teams.id, memberships.teamId), isNull(teams.deletedAt)))
    .where(and(eq(consoleSessions.id, id), isNull(consoleSessions.revokedAt)))
  const [first] = rows
  if (!first) return null
  const { session: row, email, own, deletedAt } = first
  if (row.userId === null || email === null || own === null) return { row, user: null }
  return { row, user: { id: row.userId, email, isDeleted: deletedAt !== null, accounts: accountsOf(own, rows) } }
}

/**
 * Stores a session; the oldest sessions beyond the maximum of its user, or of the key that made it, are deleted. So are the user's revoked
 * sessions and some expired ones (DER-14).
 */
export async function insertConsoleSession(db: Database, row: ConsoleSessionRow, notes: readonly Statement[]): Promise<void> {
  const { userId, keyId, createdAt } = row
  const ended = db.select({ id: consoleSessions.id }).from(consoleSessions).where(lt(consoleSessions.expiresAt, createdAt)).limit(SWEPT)
  const revoked = sql`(SELECT id FROM console_sessions WHERE user_id IS ${userId} AND revoked_at IS NOT NULL)`
  const most = keyId === null ? MAX_CONSOLE_SESSIONS : MAX_SESSIONS_OF_KEY
  const beyond = sql`(SELECT id FROM console_sessions WHERE user_id IS ${userId} AND key_id IS ${keyId}
    ORDER BY created_at DESC, rowid DESC LIMIT -1 OFFSET ${most - 1})`
  await db.batch([
    db.delete(consoleSessions).where(sql`${consoleSessions.id} IN ${revoked}`),
    db.delete(consoleSessions).where(or(inArray(consoleSessions.id, ended), sql`${consoleSessions.id} IN ${beyond}`)),
    db.insert(consoleSessions).values(row),
    ...notes,
  ])
}

/** Ends one session; false when it was ended before. */
export async function revokeConsoleSession(db: Database, id: string, nowMs: number, notes: readonly Statement[]): Promise<boolean> {
  const [{ meta }] = await db.batch([endSessions(db, eq(consoleSessions.id, id), nowMs), ...notes])
  return meta.changes > 0
}

/** Ends every session and sign-in link of a user, and everything made by the user as a listed operator (DER-6), with audit rows. */
export async function revokeSessionsOf(
  db: Database,
  userId: string,
  nowMs: number,
  [sessionsEnded, linksEnded]: readonly [Statement, Statement],
): Promise<void> {
  await db.batch([
    endSessions(db, eq(consoleSessions.userId, userId), nowMs),
    sessionsEnded,
    ...endMadeAsOperator(db, userId, nowMs),
    db.delete(signInLinks).where(or(eq(signInLinks.userId, userId), eq(signInLinks.parent, listedOperator(userId)))),
    // Written if links were deleted.
    linksEnded,
  ])
}

/** Statements that end what a user made as a listed operator, except open links: sessions by link, and keys of devices (DER-6). */
export function endMadeAsOperator(db: Database, userId: string, nowMs: number): Statement[] {
  const keys = and(eq(apiKeys.parent, listedOperator(userId)), isNull(apiKeys.revokedAt))
  return [
    endSessions(db, eq(consoleSessions.parent, listedOperator(userId)), nowMs),
    db.update(apiKeys).set({ revokedAt: nowMs }).where(keys),
  ]
}

/** The statement that ends open links that a user made as a listed operator. */
export function endLinksMadeAsOperator(db: Database, userId: string): Statement {
  return db.delete(signInLinks).where(eq(signInLinks.parent, listedOperator(userId)))
}

function listedOperator(userId: string): string {
  return writeParent({ kind: 'OPERATOR_ADDRESS', id: userId })
}

/** Number of open sessions of a user. */
export async function countSessions(db: Database, userId: string, nowMs: number): Promise<number> {
  const isOpen = and(eq(consoleSessions.userId, userId), isNull(consoleSessions.revokedAt), gt(consoleSessions.expiresAt, nowMs))
  const [row] = await db.select({ open: count() }).from(consoleSessions).where(isOpen)
  return row?.open ?? 0
}

/** The statement that ends the sessions that meet a condition. */
export function endSessions(db: Database, which: SQL, nowMs: number) {
  return db
    .update(consoleSessions)
    .set({ revokedAt: nowMs })
    .where(and(which, isNull(consoleSessions.revokedAt)))
}

/** Ends the sessions that a user made by signing in at a provider. */
export function endProviderSessions(db: Database, userId: string, nowMs: number): Statement {
  return endSessions(db, sql`${consoleSessions.userId} = ${userId} AND ${consoleSessions.made} = 'OIDC'`, nowMs)
}

/** Records when a session was last used. */
export async function touchConsoleSession(db: Database, id: string, nowMs: number): Promise<void> {
  await db.update(consoleSessions).set({ seenAt: nowMs }).where(eq(consoleSessions.id, id))
}

/** An account of a user, for an account switcher. */
export interface AccountRow {
  id: string
  name: string
  kind: 'PERSONAL' | 'ORGANIZATION'
  role: Role
}

/** The live accounts of a user: the personal one, then the others by name. */
export function listAccounts(db: Database, userId: string): Promise<AccountRow[]> {
  return db
    .select({ id: teams.id, name: teams.name, kind: teams.kind, role: memberships.role })
    .from(memberships)
    .innerJoin(teams, and(eq(teams.id, memberships.teamId), isNull(teams.deletedAt)))
    .where(eq(memberships.userId, userId))
    .orderBy(sql`${teams.kind} = 'ORGANIZATION'`, teams.name, teams.id)
    .all()
}
