import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Kinds of actors that cause a change. */
export const ACTOR_KINDS = ['KEY', 'SESSION', 'POD', 'OPERATOR', 'HOST', 'PLATFORM'] as const

/** One row per successful change, whatever its interface; written in the batch of the change. */
export const audit = sqliteTable(
  'audit',
  {
    /** Sorts by time: milliseconds in base 36, followed by random characters. */
    id: text('id').primaryKey(),
    at: integer('at').notNull(),
    /**
     * Account whose resource was changed; null for the operator's own (hosts, join tokens). Not a foreign key: a row outlives its account.
     */
    teamId: text('team_id'),
    actorKind: text('actor_kind', { enum: ACTOR_KINDS }).notNull(),
    /** The user of a key or session; null for other actors. */
    userId: text('user_id'),
    /** Id of the key, session or pod. Never a secret. */
    credentialId: text('credential_id'),
    action: text('action').notNull(),
    resourceKind: text('resource_kind').notNull(),
    resourceId: text('resource_id').notNull(),
    requestId: text('request_id'),
    /** The resource without its secrets; null: it did not exist. */
    before: text('before', { mode: 'json' }).$type<Record<string, unknown>>(),
    after: text('after', { mode: 'json' }).$type<Record<string, unknown>>(),
  },
  (t) => [
    index('audit_team').on(t.teamId, t.id),
    index('audit_resource').on(t.teamId, t.resourceId, t.id),
    index('audit_user').on(t.teamId, t.userId, t.id),
    index('audit_at').on(t.at),
  ],
)
