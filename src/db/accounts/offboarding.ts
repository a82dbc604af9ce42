import { and, asc, eq, gt, inArray, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { runNamed } from '../batch.ts'
import { closeVolumeCharges } from '../billing/charges.ts'
import type { Database } from '../client.ts'
import { buryVolumesOf } from '../resources/volume-tombstones.ts'
import * as schema from '../schema.ts'

/** Rows of one look. */
const BATCH = 100

/**
 * Organizations that a user owns without another owner, by name: without the user they have no one who runs them. `counts` says which other owners `o`
 * count, `more` which organizations are asked for.
 */
export function listSoleOwnerships(
  db: Database,
  userId: string,
  counts: readonly SQL[] = [],
  more: readonly SQL[] = [],
): Promise<{ id: string; name: string }[]> {
  const { memberships, teams } = schema
  const isOther = and(sql`o.team_id = ${teams.id} AND o.role = 'OWNER' AND o.user_id <> ${userId}`, ...counts)
  return db
    .select({ id: teams.id, name: teams.name })
    .from(memberships)
    .innerJoin(teams, eq(teams.id, memberships.teamId))
    .where(
      and(
        eq(memberships.userId, userId),
        eq(memberships.role, 'OWNER'),
        eq(teams.kind, 'ORGANIZATION'),
        isNull(teams.deletedAt),
        sql`NOT EXISTS (SELECT 1 FROM memberships o WHERE ${isOther})`,
        ...more,
      ),
    )
    .orderBy(asc(teams.name))
    .all()
}

/** Ids of a team's pods behind `afterId` that are not terminated, and whether they are locked. */
export function listLivePodIds(db: Database, teamId: string, afterId: string): Promise<{ id: string; locked: boolean }[]> {
  const { pods } = schema
  return db
    .select({ id: pods.id, locked: pods.locked })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), ne(pods.status, 'TERMINATED'), gt(pods.id, afterId)))
    .orderBy(asc(pods.id))
    .limit(BATCH)
    .all()
}

/** Revokes every key that a user made, in whatever account it acts. Returns how many were good. */
export async function revokeKeysOf(db: Database, userId: string, nowMs: number): Promise<number> {
  const { apiKeys } = schema
  const { meta } = await db
    .update(apiKeys)
    .set({ revokedAt: nowMs })
    .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
  return meta.changes
}

/** How many rows of each kind were removed. */
export type Wiped = Record<'secrets' | 'templates' | 'registries' | 'volumes', number>

/**
 * Removes what a user and the personal account own, and marks both as deleted, in one batch. What says who used how much stays: usage, the
 * rows of pods and endpoints that it names, and the audit log.
 */
export async function wipeAccount(db: Database, { userId, teamId }: { userId: string; teamId: string }, nowMs: number): Promise<Wiped> {
  const { secrets, templates, registries, networkVolumes, globalVolumes, sshKeys, invitations, idempotencyKeys, quotas, budgets } = schema
  const { identities, memberships, users, teams, spendLimits, spendStops } = schema
  const changed = await runNamed(db, {
    secrets: db.delete(secrets).where(eq(secrets.teamId, teamId)),
    templates: db.delete(templates).where(eq(templates.teamId, teamId)),
    registries: db.delete(registries).where(eq(registries.teamId, teamId)),
    charged: closeVolumeCharges(db, eq(networkVolumes.teamId, teamId), nowMs),
    ...buryVolumesOf(db, teamId, nowMs),
    networkVolumes: db.delete(networkVolumes).where(eq(networkVolumes.teamId, teamId)),
    globalVolumes: db.delete(globalVolumes).where(eq(globalVolumes.teamId, teamId)),
    sshKeys: db.delete(sshKeys).where(eq(sshKeys.teamId, teamId)),
    answers: db.delete(idempotencyKeys).where(eq(idempotencyKeys.teamId, teamId)),
    quotas: db.delete(quotas).where(eq(quotas.teamId, teamId)),
    budgets: db.delete(budgets).where(eq(budgets.teamId, teamId)),
    spendLimits: db.delete(spendLimits).where(eq(spendLimits.teamId, teamId)),
    spendStops: db.delete(spendStops).where(eq(spendStops.teamId, teamId)),
    invitations: db
      .delete(invitations)
      .where(inArray(invitations.email, db.select({ email: users.email }).from(users).where(eq(users.id, userId)))),
    identities: db.delete(identities).where(eq(identities.userId, userId)),
    memberships: db.delete(memberships).where(eq(memberships.userId, userId)),
    user: db
      .update(users)
      .set({ email: sql`'deleted-' || ${users.id}`, deletedAt: nowMs })
      .where(eq(users.id, userId)),
    team: db.update(teams).set({ name: 'deleted', deletedAt: nowMs, plan: null }).where(eq(teams.id, teamId)),
  })
  const { secrets: values, templates: made, registries: logins } = changed
  return { secrets: values, templates: made, registries: logins, volumes: changed.networkVolumes + changed.globalVolumes }
}
