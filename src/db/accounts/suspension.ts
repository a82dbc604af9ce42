import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Database, Statement } from '../client.ts'
import { teams } from '../schema.ts'
import { listSoleOwnerships } from './sole-ownerships.ts'

/** Suspends a team, or lifts the suspension with null. A repeat changes only the time. */
export async function writeSuspension(db: Database, teamId: string, sinceMs: number | null, note: Statement): Promise<void> {
  await db.batch([db.update(teams).set({ suspendedAt: sinceMs }).where(eq(teams.id, teamId)), note])
}

/** Time since which all owners of a team `t` are suspended; null while one of them is not. */
const OWNERS_SUSPENDED_SINCE = sql`(SELECT CASE WHEN COUNT(*) > 0 AND COUNT(*) = COUNT(own.suspended_at) THEN MAX(own.suspended_at) END
  FROM memberships m JOIN users u ON u.id = m.user_id JOIN teams own ON own.id = u.personal_team_id
  WHERE m.team_id = t.id AND m.role = 'OWNER')`

/**
 * Time since which a team is suspended, as an SQL value; null when it is not (DER-20): the operator has suspended the team, or the personal
 * accounts of all its owners. All statements and decisions about suspension use this value.
 */
export function suspendedSince(teamId: string | SQLiteColumn): SQL<number | null> {
  return sql<number | null>`(SELECT COALESCE(t.suspended_at, ${OWNERS_SUSPENDED_SINCE}) FROM teams t WHERE t.id = ${teamId})`
}

/** Time since which a team is suspended; null when it is not. */
export async function findSuspension(db: Database, teamId: string): Promise<number | null> {
  const [row] = await db.values<[number | null]>(sql`SELECT ${suspendedSince(teamId)}`)
  return row?.[0] ?? null
}

/** Whether all owners of a team are suspended, regardless of the team's own suspension. */
export async function areOwnersSuspended(db: Database, teamId: string): Promise<boolean> {
  const [row] = await db.values<[number | null]>(sql`SELECT ${OWNERS_SUSPENDED_SINCE} FROM teams t WHERE t.id = ${teamId}`)
  return typeof row?.[0] === 'number'
}

/**
 * A condition of statements that reserve something of a host for a team: a key that other isolates have cached must not do so (DER-40,
 * TEAM-14, DER-20).
 */
export function isActive(teamId: string): SQL {
  return sql`(${suspendedSince(teamId)} IS NULL AND NOT EXISTS (SELECT 1 FROM teams WHERE id = ${teamId} AND deleted_at IS NOT NULL))`
}

/** A condition: the operator has not suspended this user. `userId` is an SQL value. */
export function isUserActive(userId: SQL | string): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM users u JOIN teams own ON own.id = u.personal_team_id
    WHERE u.id = ${userId} AND own.suspended_at IS NOT NULL)`
}

/** Organizations that are suspended exactly while this user is (DER-21): owned by the user, and by no other user who is not suspended. */
export function listFollowing(db: Database, userId: string): Promise<{ id: string; name: string }[]> {
  return listSoleOwnerships(db, userId, [isUserActive(sql`o.user_id`)], [isNull(teams.suspendedAt)])
}
