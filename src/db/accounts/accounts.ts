import { and, eq, isNull, sql } from 'drizzle-orm'
import { DEFAULT_QUOTA, type RateQuota } from '../../domain/rate-limit.ts'
import type { Database, Statement } from '../client.ts'
import { endpoints, memberships, quotas, teams, users } from '../schema.ts'
import { findPlansOf } from './plans.ts'
import { isUserActive } from './suspension.ts'

export type UserRow = typeof users.$inferSelect
/** The rate quota of an account; `exempt`: it has none. */
export type QuotaRow = RateQuota & { exempt: boolean }

/** Stores a user with the personal team; false when the e-mail address is taken. */
export async function insertUser(db: Database, user: UserRow, note: Statement): Promise<boolean> {
  if (await findUserByEmail(db, user.email)) return false
  try {
    await db.batch([
      db.insert(teams).values({ id: user.personalTeamId, name: user.email, kind: 'PERSONAL', createdAt: user.createdAt }),
      db.insert(users).values(user),
      db.insert(memberships).values({ teamId: user.personalTeamId, userId: user.id, role: 'OWNER', createdAt: user.createdAt }),
      note,
    ])
    return true
  } catch (error) {
    // Two concurrent requests with one address: the unique index decides, and the second gets an ordinary "taken".
    if (await findUserByEmail(db, user.email)) return false
    throw error
  }
}

/** The user with this id, unless deleted; or undefined. */
export function findUser(db: Database, id: string): Promise<UserRow | undefined> {
  return db
    .select()
    .from(users)
    .where(and(eq(users.id, id), isNull(users.deletedAt)))
    .get()
}

/** The user with this address, or undefined. Addresses are stored in lower case. */
export function findUserByEmail(db: Database, email: string): Promise<UserRow | undefined> {
  return db.select().from(users).where(eq(users.email, email)).get()
}

/**
 * The owner of a team: of several the longest-standing one that is not suspended, else the longest-standing one (DER-23); null without an
 * owner.
 */
export async function findOwner(db: Database, teamId: string): Promise<string | null> {
  const owner = await db
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(and(eq(memberships.teamId, teamId), eq(memberships.role, 'OWNER')))
    .orderBy(sql`NOT ${isUserActive(sql`${memberships.userId}`)}`, memberships.createdAt, memberships.userId)
    .limit(1)
    .get()
  return owner?.userId ?? null
}

/** Address of the user whose personal team owns an endpoint; null for an organization. */
export async function findEndpointUser(db: Database, endpointId: string): Promise<string | null> {
  const row = await db
    .select({ email: users.email })
    .from(endpoints)
    .innerJoin(users, eq(users.personalTeamId, endpoints.teamId))
    .where(eq(endpoints.id, endpointId))
    .get()
  return row?.email ?? null
}

/** Address of the user whose personal team this is; null for an organization. */
export async function findTeamUser(db: Database, teamId: string): Promise<string | null> {
  const row = await db.select({ email: users.email }).from(users).where(eq(users.personalTeamId, teamId)).get()
  return row?.email ?? null
}

/** The first users by address, up to `limit`. */
export function listUsers(db: Database, limit: number): Promise<UserRow[]> {
  return db.select().from(users).where(isNull(users.deletedAt)).orderBy(users.email).limit(limit).all()
}

/** Request quotas of a team (PLAN-2): its override, else its plan's, else the defaults of all accounts. */
export async function findQuota(db: Database, teamId: string): Promise<QuotaRow> {
  const [override, { plan, fallback }] = await Promise.all([findQuotaOverride(db, teamId), findPlansOf(db, teamId)])
  return override ?? { ...(plan?.limits.requests ?? fallback.requests ?? DEFAULT_QUOTA), exempt: false }
}

/** Request quota override of a team, or undefined. */
export function findQuotaOverride(db: Database, teamId: string): Promise<QuotaRow | undefined> {
  return db
    .select({ minute: quotas.minute, hour: quotas.hour, day: quotas.day, exempt: quotas.exempt })
    .from(quotas)
    .where(eq(quotas.teamId, teamId))
    .get()
}

/** Deletes the request quota override of a team. */
export async function deleteQuota(db: Database, teamId: string, note: Statement): Promise<void> {
  await db.batch([db.delete(quotas).where(eq(quotas.teamId, teamId)), note])
}

/** Sets the request quota override of a team. */
export async function upsertQuota(db: Database, teamId: string, quota: QuotaRow, nowMs: number, note: Statement): Promise<void> {
  const { minute, hour, day, exempt } = quota
  const set = db
    .insert(quotas)
    .values({ teamId, minute, hour, day, exempt, updatedAt: nowMs })
    .onConflictDoUpdate({
      target: quotas.teamId,
      set: {
        minute: sql`excluded.minute`,
        hour: sql`excluded.hour`,
        day: sql`excluded.day`,
        exempt: sql`excluded.exempt`,
        updatedAt: sql`excluded.updated_at`,
      },
    })
  await db.batch([set, note])
}
