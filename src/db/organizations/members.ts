import { and, asc, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Role } from '../../domain/access.ts'
import { scopesOfHandedKey } from '../../domain/team/members.ts'
import { isUserActive } from '../accounts/suspension.ts'
import type { Database, Statement } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { apiKeys, memberships, users } from '../schema.ts'

/** A member with the role on which a decision was based; the write requires that it is still so. */
export interface Actor {
  userId: string
  role: Role
}

/** A member of an organization; `createdAt` is in milliseconds since the epoch. */
export interface MemberRow extends Actor {
  email: string
  createdAt: number
}

/** A member with the state of the user. */
export interface KnownMember extends MemberRow {
  /** Whether the user is not suspended by the operator. */
  isActive: boolean
}

/** Members of a team in the order in which they joined (ORG-2). */
export function listMembers(db: Database, teamId: string): Promise<MemberRow[]> {
  return db
    .select({ userId: users.id, email: users.email, role: memberships.role, createdAt: memberships.createdAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.teamId, teamId))
    .orderBy(asc(memberships.createdAt), asc(users.id))
    .all()
}

/** The members among some users of a team, and its owners that are not suspended, in one query. */
export async function findMembers(
  db: Database,
  teamId: string,
  userIds: readonly string[],
): Promise<{ members: ReadonlyMap<string, KnownMember>; activeOwners: ReadonlySet<string> }> {
  const rows = await db
    .select({
      userId: users.id,
      email: users.email,
      role: memberships.role,
      createdAt: memberships.createdAt,
      isActive: sql<number>`${isUserActive(sql`${memberships.userId}`)}`,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.teamId, teamId), or(isOneOf(users.id, userIds), eq(memberships.role, 'OWNER'))))
    .all()
  const known = rows.map((row) => ({ ...row, isActive: row.isActive === 1 }))
  const owners = known.filter(({ role, isActive }) => role === 'OWNER' && isActive)
  return { members: new Map(known.map((row) => [row.userId, row])), activeOwners: new Set(owners.map(({ userId }) => userId)) }
}

/** A condition of a statement: the member still has the role on which the decision was based. */
export function isStill(teamId: string, { userId, role }: Actor): SQL {
  return sql`EXISTS (SELECT 1 FROM memberships WHERE team_id = ${teamId} AND user_id = ${userId} AND role = ${role})`
}

/**
 * Changes a member's role if the member and the actor still have their roles; false: one has not. `condition`: a further condition of the
 * role. `note` directly follows the statement that makes the change.
 */
export async function changeRole(
  db: Database,
  teamId: string,
  { member, to, actor, condition }: { member: Actor; to: Role; actor: Actor; condition: SQL | undefined },
  note: Statement,
): Promise<boolean> {
  const keepsOwner = member.role === 'OWNER' && to !== 'OWNER' ? hasOtherOwner(teamId, member.userId) : undefined
  const [result] = await db.batch([
    db
      .update(memberships)
      .set({ role: to })
      .where(and(isMember(teamId, member), isStill(teamId, actor), keepsOwner, condition)),
    note,
  ])
  return result.meta.changes > 0
}

/** Makes a member an owner, and the owner who does so an administrator (TEAM-12); false: their roles have changed. */
export async function handOver(
  db: Database,
  teamId: string,
  { member, owner, condition }: { member: Actor; owner: Actor; condition: SQL | undefined },
  [given, taken]: readonly [Statement, Statement],
): Promise<boolean> {
  const [result] = await db.batch([
    db
      .update(memberships)
      .set({ role: 'OWNER' })
      .where(and(isMember(teamId, member), isStill(teamId, owner), isUserActive(member.userId), condition)),
    given,
    db
      .update(memberships)
      .set({ role: 'ADMIN' })
      .where(and(isMember(teamId, owner), hasOtherOwner(teamId, owner.userId), sql`changes() > 0`)),
    taken,
  ])
  return result.meta.changes > 0
}

/**
 * Removes a member, and revokes the member's keys in this team or transfers them to the recipient (TEAM-10, TEAM-11); false: a role has changed.
 * The notes directly follow the statements that they describe: of the member and of the keys.
 */
export async function removeMember(
  db: Database,
  teamId: string,
  { member, actor, recipient, nowMs }: { member: Actor; actor: Actor; recipient: Actor | null; nowMs: number },
  [removed, keysEnded]: readonly [Statement, Statement],
): Promise<boolean> {
  const keepsOwner = member.role === 'OWNER' ? hasOtherOwner(teamId, member.userId) : undefined
  const isGone = sql`NOT EXISTS (SELECT 1 FROM memberships WHERE team_id = ${teamId} AND user_id = ${member.userId})`
  const [result] = await db.batch([
    db
      .delete(memberships)
      .where(and(isMember(teamId, member), isStill(teamId, actor), recipient ? isStill(teamId, recipient) : undefined, keepsOwner)),
    removed,
    db
      .update(apiKeys)
      .set(recipient ? rightsUnder(member, recipient) : { revokedAt: nowMs })
      .where(and(eq(apiKeys.teamId, teamId), eq(apiKeys.userId, member.userId), isNull(apiKeys.revokedAt), isGone)),
    keysEnded,
  ])
  return result.meta.changes > 0
}

/** New values of a key that is transferred to another member: under another role it is restricted to what it granted (TEAM-11). */
function rightsUnder(member: Actor, recipient: Actor) {
  if (member.role === recipient.role) return { userId: recipient.userId }
  const granted = (permission: 'ALL' | 'READ_ONLY') => JSON.stringify(scopesOfHandedKey(member.role, permission, []))
  const name = sql`substr(value, 1, instr(value || '@', '@') - 1)`
  const listed = sql`(SELECT json_group_array(value) FROM json_each(${apiKeys.scopes})
    WHERE ${name} IN (SELECT value FROM json_each(${granted('ALL')})))`
  const scopes = sql`CASE ${apiKeys.permission} WHEN 'ALL' THEN ${granted('ALL')} WHEN 'READ_ONLY' THEN ${granted('READ_ONLY')} ELSE ${listed} END`
  return { userId: recipient.userId, permission: 'RESTRICTED' as const, scopes }
}

function isMember(teamId: string, { userId, role }: Actor) {
  return and(eq(memberships.teamId, teamId), eq(memberships.userId, userId), eq(memberships.role, role))
}

/** DER-22: a suspended owner cannot run the organization. */
function hasOtherOwner(teamId: string, userId: string): SQL {
  return sql`EXISTS (SELECT 1 FROM memberships other WHERE other.team_id = ${teamId} AND other.user_id <> ${userId} AND other.role = 'OWNER'
    AND ${isUserActive(sql`other.user_id`)})`
}
