import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { MAX_OPEN_INVITATIONS } from '../../domain/team/invitation.ts'
import { MAX_MEMBERS } from '../../domain/team/members.ts'
import { isActive, isUserActive, suspendedSince } from '../accounts/suspension.ts'
import type { Database, Statement } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { invitations, memberships, teams, users } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { type Actor, isStill } from './members.ts'
import { mayOwnOneMore } from './organizations.ts'

export type InvitationRow = typeof invitations.$inferSelect

/** Open invitations of an organization, oldest first. */
export function listInvitations(db: Database, teamId: string, nowMs: number): Promise<InvitationRow[]> {
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.teamId, teamId), isOpen(nowMs)))
    .orderBy(asc(invitations.createdAt), asc(invitations.id))
    .all()
}

/** An open invitation of an organization, or undefined. */
export function findInvitation(db: Database, teamId: string, id: string, nowMs: number): Promise<InvitationRow | undefined> {
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.teamId, teamId), eq(invitations.id, id), isOpen(nowMs)))
    .get()
}

/**
 * The open invitation with this token for the address of a user (TEAM-8), to an organization that is not suspended, with the organization's
 * name; or undefined.
 */
export async function findInvitationOf(
  db: Database,
  userId: string,
  tokenHash: string,
  nowMs: number,
): Promise<{ invitation: InvitationRow; team: { name: string; createdAt: number } } | undefined> {
  return db
    .select({ invitation: invitations, team: { name: teams.name, createdAt: teams.createdAt } })
    .from(invitations)
    .innerJoin(teams, and(eq(teams.id, invitations.teamId), isNull(teams.deletedAt)))
    .where(and(eq(invitations.tokenHash, tokenHash), isOpen(nowMs), isFor(userId), sql`${suspendedSince(invitations.teamId)} IS NULL`))
    .get()
}

/** Membership and invitation of an address, and the number of open invitations and members of the organization. */
export async function readMembership(
  db: Database,
  teamId: string,
  email: string,
  nowMs: number,
): Promise<{ isMember: boolean; isInvited: boolean; open: number; members: number }> {
  const columns = [isMemberAt(teamId, email), isInvitedAt(teamId, email, nowMs), openIn(teamId, nowMs), membersOf(teamId)]
  const [row = []] = await db.values<number[]>(sql`SELECT ${sql.join(columns, sql`, `)}`)
  return { isMember: row[0] === 1, isInvited: row[1] === 1, open: Number(row[2]), members: Number(row[3]) }
}

/** Deletes invitations derived from these parents; the audit log retains them. */
export async function deleteInvitationsOf(db: Database, teamId: string, parents: readonly string[]): Promise<void> {
  await db.delete(invitations).where(and(eq(invitations.teamId, teamId), isOneOf(invitations.parent, parents)))
}

/**
 * Stores an invitation; false when a condition of the decision has changed. Ended invitations are deleted; the audit log retains them.
 * `together`: statements that depend on whether the invitation was stored.
 */
export async function insertInvitation(db: Database, row: InvitationRow, actor: Actor, together: readonly Statement[]): Promise<boolean> {
  const { teamId, email, createdAt: nowMs } = row
  const hasRoom = sql`NOT ${isMemberAt(teamId, email)} AND NOT ${isInvitedAt(teamId, email, nowMs)}
    AND ${openIn(teamId, nowMs)} < ${MAX_OPEN_INVITATIONS} AND ${membersOf(teamId)} < ${MAX_MEMBERS}`
  const [, result] = await db.batch([
    db.delete(invitations).where(and(eq(invitations.teamId, teamId), sql`NOT ${isOpen(nowMs)}`)),
    db.insert(invitations).select(selectOf(invitations, row, sql`WHERE ${isStill(teamId, actor)} AND ${hasRoom}`)),
    ...together,
  ])
  return result.meta.changes > 0
}

/** Revokes an open invitation if the actor still has the role; false: the invitation is not open, or the actor's role has changed. */
export async function revokeInvitation(
  db: Database,
  { teamId, id }: InvitationRow,
  actor: Actor,
  nowMs: number,
  note: Statement,
): Promise<boolean> {
  const [result] = await db.batch([end(db, id, 'REVOKED', nowMs, isStill(teamId, actor)), note])
  return result.meta.changes > 0
}

/** Declines an open invitation of a user; false: it is not open. */
export async function declineInvitation(db: Database, id: string, userId: string, nowMs: number, note: Statement): Promise<boolean> {
  const [result] = await db.batch([end(db, id, 'DECLINED', nowMs, isFor(userId)), note])
  return result.meta.changes > 0
}

/**
 * Accepts an invitation of a user, once (TEAM-8); false: it is not open, or a bound is reached. `note` directly follows the statement that
 * ends the invitation.
 */
export async function acceptInvitation(
  db: Database,
  { id, teamId, role }: InvitationRow,
  userId: string,
  nowMs: number,
  note: Statement,
): Promise<boolean> {
  const isNew = sql`NOT EXISTS (SELECT 1 FROM memberships WHERE team_id = ${teamId} AND user_id = ${userId})`
  const hasRoom = and(
    isNew,
    isActive(teamId),
    sql`${membersOf(teamId)} < ${MAX_MEMBERS}`,
    role === 'OWNER' ? mayOwnOneMore(userId) : undefined,
  )
  const [result] = await db.batch([
    end(db, id, 'ACCEPTED', nowMs, and(isFor(userId), hasRoom)),
    note,
    db.insert(memberships).select(selectOf(memberships, { teamId, userId, role, createdAt: nowMs }, sql`WHERE changes() > 0`)),
  ])
  return result.meta.changes > 0
}

function end(db: Database, id: string, outcome: NonNullable<InvitationRow['outcome']>, nowMs: number, condition: SQL | undefined) {
  return db
    .update(invitations)
    .set({ outcome, endedAt: nowMs })
    .where(and(eq(invitations.id, id), isOpen(nowMs), condition))
}

/** Whether an invitation has not ended and its maker may still grant its role (TEAM-9), as the same member and not suspended (DER-27). */
function isOpen(nowMs: number): SQL {
  return sql`(${invitations.outcome} IS NULL AND ${invitations.expiresAt} > ${nowMs} AND EXISTS (SELECT 1 FROM memberships maker
    WHERE maker.team_id = ${invitations.teamId} AND maker.user_id = ${invitations.invitedBy} AND maker.created_at <= ${invitations.createdAt}
      AND (maker.role = 'OWNER' OR (maker.role = 'ADMIN' AND ${invitations.role} <> 'OWNER')) AND ${isUserActive(sql`maker.user_id`)}))`
}

function isFor(userId: string): SQL {
  return sql`${invitations.email} = (SELECT email FROM users WHERE id = ${userId} AND deleted_at IS NULL)`
}

function isMemberAt(teamId: string, email: string): SQL {
  const member = and(eq(memberships.teamId, teamId), eq(users.email, email))
  return sql`EXISTS (SELECT 1 FROM ${memberships} JOIN ${users} ON ${users.id} = ${memberships.userId} WHERE ${member})`
}

function isInvitedAt(teamId: string, email: string, nowMs: number): SQL {
  return sql`EXISTS (SELECT 1 FROM ${invitations} WHERE ${and(eq(invitations.teamId, teamId), eq(invitations.email, email), isOpen(nowMs))})`
}

function openIn(teamId: string, nowMs: number): SQL {
  return sql`(SELECT COUNT(*) FROM ${invitations} WHERE ${and(eq(invitations.teamId, teamId), isOpen(nowMs))})`
}

function membersOf(teamId: string): SQL {
  return sql`(SELECT COUNT(*) FROM ${memberships} WHERE ${eq(memberships.teamId, teamId)})`
}
