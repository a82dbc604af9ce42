import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { runNamed } from '../batch.ts'
import { closeVolumeCharges } from '../billing/charges.ts'
import type { Database } from '../client.ts'
import { buryVolumesOf } from '../resources/volume-tombstones.ts'
import * as schema from '../schema.ts'

/** Revokes every key that a user made, in any account. Returns how many were not revoked yet. */
export async function revokeKeysOf(db: Database, userId: string, nowMs: number): Promise<number> {
  const { apiKeys } = schema
  const { meta } = await db
    .update(apiKeys)
    .set({ revokedAt: nowMs })
    .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
  return meta.changes
}

/** Number of deleted rows by kind. */
export type Wiped = Record<'secrets' | 'templates' | 'registries' | 'volumes', number>

/**
 * Deletes the resources of a user and the personal account, and marks both as deleted, in one batch. Records of use are retained: usage,
 * the rows of pods and endpoints that it names, and the audit log.
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
