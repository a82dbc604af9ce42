import { sql } from 'drizzle-orm'
import { type AnySQLiteColumn, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { PlanLimits } from '../../../contract/accounts/plans.ts'
import { PERMISSIONS } from '../../../contract/enums.ts'
import { ROLES } from '../../../domain/access.ts'
import { RUNTIME_CLASSES } from '../../../host-protocol/messages.ts'

/** Limits that accounts have in common (PLAN-1); the plan `default` applies to accounts without a plan. */
export const plans = sqliteTable('plans', {
  name: text('name').primaryKey(),
  limits: text('limits', { mode: 'json' }).$type<PlanLimits>().notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/**
 * Every account is a team; a user has a personal one. Everything that an account owns has a `team_id`. Times are milliseconds since the
 * epoch.
 */
export const teams = sqliteTable(
  'teams',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    kind: text('kind', { enum: ['PERSONAL', 'ORGANIZATION'] }).notNull(),
    createdAt: integer('created_at').notNull(),
    /** The runtime class that the operator requires for its containers; null: any. */
    runtimeClass: text('runtime_class', { enum: RUNTIME_CLASSES }),
    /** Time of its suspension by the operator (DER-40); null: it is not suspended. */
    suspendedAt: integer('suspended_at'),
    /** Time of its deletion; the row is retained for billing. Null: it is live. */
    deletedAt: integer('deleted_at'),
    /** The plan that the operator assigned; null: none. */
    plan: text('plan').references(() => plans.name),
    /** For an organization the personal account of its maker, whose budgets it shares while it has no plan (PLAN-5); null for others. */
    makerTeamId: text('maker_team_id').references((): AnySQLiteColumn => teams.id),
  },
  (t) => [
    index('teams_plan').on(t.plan),
    index('teams_maker').on(t.makerTeamId),
    index('teams_runtime_class').on(t.runtimeClass).where(sql`${t.runtimeClass} IS NOT NULL`),
  ],
)

/** The column of the team that a row belongs to. */
export function teamId() {
  return text('team_id')
    .notNull()
    .references(() => teams.id)
}

export const users = sqliteTable(
  'users',
  {
    id: text('id').primaryKey(),
    email: text('email').notNull(),
    personalTeamId: text('personal_team_id')
      .notNull()
      .references(() => teams.id),
    createdAt: integer('created_at').notNull(),
    /** Time of its deletion, which frees its address. Null: it is live. */
    deletedAt: integer('deleted_at'),
    /** When the operator last deleted its identities (OIDC-15): older tokens do not link any (DER-31). Null: never. */
    identitiesForgottenAt: integer('identities_forgotten_at'),
  },
  (t) => [uniqueIndex('users_email').on(t.email), index('users_personal_team').on(t.personalTeamId)],
)

/** The column of the user that a row belongs to. */
export function userId() {
  return text('user_id')
    .notNull()
    .references(() => users.id)
}

/** Identities of users at identity providers: one row per subject that has signed in. */
export const identities = sqliteTable(
  'identities',
  {
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    userId: userId(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.issuer, t.subject] }), index('identities_user').on(t.userId)],
)

export const memberships = sqliteTable(
  'memberships',
  {
    teamId: teamId(),
    userId: userId(),
    role: text('role', { enum: ROLES }).notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.teamId, t.userId] }), index('memberships_user').on(t.userId)],
)

/** Overrides of the default request quotas (AUT-4a); no row means the defaults (RATE-1). */
export const quotas = sqliteTable(
  'quotas',
  {
    teamId: text('team_id')
      .primaryKey()
      .references(() => teams.id),
    minute: integer('minute').notNull(),
    hour: integer('hour').notNull(),
    day: integer('day').notNull(),
    exempt: integer('exempt', { mode: 'boolean' }).notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [check('quotas_positive', sql`${t.minute} > 0 AND ${t.hour} > 0 AND ${t.day} > 0`)],
)

/** API keys. The secret itself is never stored, only SHA-256 over pepper and secret, in hex. */
export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    userId: userId(),
    name: text('name').notNull(),
    permission: text('permission', { enum: PERMISSIONS }).notNull(),
    /** Scope names of AUT-3 when `permission` is RESTRICTED, else empty. */
    scopes: text('scopes', { mode: 'json' }).$type<string[]>().notNull(),
    secretHash: text('secret_hash').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at'),
    revokedAt: integer('revoked_at'),
    lastUsedAt: integer('last_used_at'),
    /** Id of the key to which it was rotated; this one is valid until `expiresAt`. */
    replacedBy: text('replaced_by'),
    /** The credential that it is derived from and ends with (DER-8); null: only the membership of its maker. */
    parent: text('parent'),
  },
  (t) => [
    index('api_keys_team').on(t.teamId),
    index('api_keys_user').on(t.userId),
    index('api_keys_parent').on(t.parent).where(sql`${t.parent} IS NOT NULL`),
  ],
)
