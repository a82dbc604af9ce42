import { and, count, desc, eq, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Role } from '../../domain/access.ts'
import { BLOCKER_KINDS, type Blocker } from '../../domain/team/organization.ts'
import { boundOf } from '../accounts/budgets.ts'
import type { Database, Statement } from '../client.ts'
import {
  apiKeys,
  endpoints,
  globalVolumes,
  invitations,
  memberships,
  networkVolumes,
  pods,
  registries,
  secrets,
  teams,
  templates,
  users,
} from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { type Actor, isStill } from './members.ts'

/**
 * The user whose organizations are read; `boundTo` is the account of a key, which sees only itself unless it is the user's own (TEAM-4).
 */
export interface Seer {
  userId: string
  boundTo: string | null
}

/** An organization, and the user's role in it. */
export interface OrganizationRow {
  id: string
  name: string
  createdAt: number
  role: Role
}

/** Organizations of a user, newest first (ORG-1). */
export function listOrganizations(db: Database, seer: Seer): Promise<OrganizationRow[]> {
  return selectSeen(db, seer, undefined).orderBy(desc(teams.createdAt), desc(teams.id)).all()
}

/** An organization of a user, or undefined (ORG-2). */
export function findOrganization(db: Database, seer: Seer, id: string): Promise<OrganizationRow | undefined> {
  return selectSeen(db, seer, eq(teams.id, id)).get()
}

/** Whether an organization with this id exists, for any caller. */
export async function isLiveOrganization(db: Database, id: string): Promise<boolean> {
  const live = and(eq(teams.id, id), eq(teams.kind, 'ORGANIZATION'), isNull(teams.deletedAt))
  return (await db.select({ id: teams.id }).from(teams).where(live).get()) !== undefined
}

/** Whether a team is the user's personal account. */
export async function isOwnAccount(db: Database, userId: string, teamId: string): Promise<boolean> {
  const own = and(eq(users.id, userId), eq(users.personalTeamId, teamId))
  return (await db.select({ id: users.id }).from(users).where(own).get()) !== undefined
}

/** Number of organizations that a user owns, and the bound. */
export async function countOwned(db: Database, userId: string): Promise<{ owned: number; bound: number }> {
  const [row] = await db.values<[number, number]>(sql`SELECT ${owned(userId)}, ${boundOf(ownTeamOf(userId), 'organizations')}`)
  return { owned: Number(row?.[0]), bound: Number(row?.[1]) }
}

/** A condition of the statement that makes a user an owner: concurrent requests cannot exceed the bound together (TEAM-3). */
export function mayOwnOneMore(userId: string): SQL {
  return sql`${owned(userId)} < ${boundOf(ownTeamOf(userId), 'organizations')}`
}

/**
 * Stores an organization with its first owner; false when the owner has reached the bound. The organization gets the required runtime class
 * of the user's personal account and shares its budgets (PLAN-5). `together`: statements that depend on whether it was stored.
 */
export async function insertOrganization(
  db: Database,
  { id, name, createdAt }: Omit<OrganizationRow, 'role'>,
  userId: string,
  together: readonly Statement[],
): Promise<boolean> {
  const runtimeClass = sql`(SELECT t.runtime_class FROM teams t JOIN users u ON u.personal_team_id = t.id WHERE u.id = ${userId})`
  const ofMaker = { runtimeClass, makerTeamId: ownTeamOf(userId) }
  const team = { id, name, kind: 'ORGANIZATION', createdAt, suspendedAt: null, deletedAt: null, plan: null, ...ofMaker } as const
  const [result] = await db.batch([
    db.insert(teams).select(selectOf(teams, team, sql`WHERE ${mayOwnOneMore(userId)}`)),
    db.insert(memberships).select(selectOf(memberships, { teamId: id, userId, role: 'OWNER', createdAt }, sql`WHERE changes() > 0`)),
    ...together,
  ])
  return result.meta.changes > 0
}

/** Renames an organization if it still has its name and the actor the role; false: either has changed, or it is deleted. */
export async function renameOrganization(
  db: Database,
  before: Pick<OrganizationRow, 'id' | 'name'>,
  name: string,
  actor: Actor,
  together: readonly Statement[],
): Promise<boolean> {
  const [result] = await db.batch([
    db
      .update(teams)
      .set({ name })
      .where(and(isNamed(before), isStill(before.id, actor))),
    ...together,
  ])
  return result.meta.changes > 0
}

/** Numbers of the organization's resources that prevent its deletion (TEAM-13). `userId`: the owner who deletes it. */
export async function countBlockers(db: Database, id: string, userId: string, nowMs: number): Promise<Record<Blocker, number>> {
  const counts = keptOf(id, userId, nowMs)
  const columns = BLOCKER_KINDS.map((kind) => counts[kind])
  const [row = []] = await db.values<number[]>(sql`SELECT ${sql.join(columns, sql`, `)}`)
  return Object.fromEntries(BLOCKER_KINDS.map((kind, i) => [kind, Number(row[i])])) as Record<Blocker, number>
}

/**
 * Deletes an empty organization with its members, invitations and the owner's keys; false: it is not empty, or it was changed meanwhile.
 * The row is retained for billing. `note` directly follows the statement that deletes.
 */
export async function deleteOrganization(
  db: Database,
  before: Pick<OrganizationRow, 'id' | 'name'>,
  actor: Actor,
  nowMs: number,
  note: Statement,
): Promise<boolean> {
  const { id } = before
  const isEmpty = Object.values(keptOf(id, actor.userId, nowMs)).map((left) => sql`${left} = 0`)
  const isDeleted = sql`EXISTS (SELECT 1 FROM teams WHERE id = ${id} AND deleted_at IS NOT NULL)`
  const [result] = await db.batch([
    db
      .update(teams)
      // The spending of an organization with a plan stays its own: without the plan it would count for its maker's account (SHR-1).
      .set({ deletedAt: nowMs, plan: null, makerTeamId: sql`CASE WHEN ${teams.plan} IS NULL THEN ${teams.makerTeamId} END` })
      .where(and(isNamed(before), isStill(id, actor), ...isEmpty)),
    note,
    db
      .update(apiKeys)
      .set({ revokedAt: nowMs })
      .where(and(eq(apiKeys.teamId, id), isNull(apiKeys.revokedAt), isDeleted)),
    db.delete(invitations).where(and(eq(invitations.teamId, id), isDeleted)),
    db.delete(memberships).where(and(eq(memberships.teamId, id), isDeleted)),
  ])
  return result.meta.changes > 0
}

function selectSeen(db: Database, { userId, boundTo }: Seer, which: SQL | undefined) {
  const isSeen = boundTo === null ? undefined : or(eq(teams.id, boundTo), eq(users.personalTeamId, boundTo))
  return db
    .select({ id: teams.id, name: teams.name, createdAt: teams.createdAt, role: memberships.role })
    .from(memberships)
    .innerJoin(teams, and(eq(teams.id, memberships.teamId), eq(teams.kind, 'ORGANIZATION'), isNull(teams.deletedAt)))
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.userId, userId), isSeen, which))
}

function owned(userId: string): SQL {
  return sql`(SELECT COUNT(*) FROM memberships m JOIN teams t ON t.id = m.team_id
    WHERE m.user_id = ${userId} AND m.role = 'OWNER' AND t.kind = 'ORGANIZATION' AND t.deleted_at IS NULL)`
}

function ownTeamOf(userId: string): SQL {
  return sql`(SELECT personal_team_id FROM users WHERE id = ${userId})`
}

function keptOf(id: string, userId: string, nowMs: number): Record<Blocker, SQL> {
  const goodKeys = sql`(${apiKeys.expiresAt} IS NULL OR ${apiKeys.expiresAt} > ${nowMs})`
  const counted = (table: SQLiteTable & { teamId: SQLiteColumn }, more?: SQL) =>
    sql`(SELECT ${count()} FROM ${table} WHERE ${and(eq(table.teamId, id), more)})`
  return {
    pods: counted(pods, ne(pods.status, 'TERMINATED')),
    endpoints: counted(endpoints, isNull(endpoints.deletedAt)),
    networkVolumes: counted(networkVolumes),
    globalVolumes: counted(globalVolumes),
    templates: counted(templates),
    registries: counted(registries),
    secrets: counted(secrets),
    keysOfOthers: counted(apiKeys, and(ne(apiKeys.userId, userId), isNull(apiKeys.revokedAt), goodKeys)),
  }
}

function isNamed({ id, name }: Pick<OrganizationRow, 'id' | 'name'>) {
  return and(isLive(id), eq(teams.name, name))
}

function isLive(id: string) {
  return and(eq(teams.id, id), eq(teams.kind, 'ORGANIZATION'), isNull(teams.deletedAt))
}
