import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { PERMISSIONS } from '../../../contract/enums.ts'
import { SIGN_IN_WAYS } from '../../../domain/session/console.ts'
import { DECISIONS } from '../../../domain/session/device-login.ts'
import { teams, users } from './accounts.ts'

/** Sessions of the console (CS-1). What opens one is known to its browser alone: here is a hash of it. */
export const consoleSessions = sqliteTable(
  'console_sessions',
  {
    id: text('id').primaryKey(),
    made: text('made', { enum: SIGN_IN_WAYS }).notNull(),
    /** Null: the operator's, who is no user. */
    userId: text('user_id').references(() => users.id),
    /** The key that it acts as and ends with; of the operator's key a digest. */
    keyId: text('key_id'),
    isOperator: integer('is_operator', { mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** To a few minutes. */
    seenAt: integer('seen_at').notNull(),
    revokedAt: integer('revoked_at'),
    /** Of a session by link: what had made the link (DER-3). */
    parent: text('parent'),
  },
  (t) => [
    index('console_sessions_user').on(t.userId, t.createdAt),
    index('console_sessions_expires').on(t.expiresAt),
    index('console_sessions_parent').on(t.parent),
  ],
)

/** Links that open a session once (CS-15); the row goes with its use. */
export const signInLinks = sqliteTable('sign_in_links', {
  id: text('id').primaryKey(),
  userId: text('user_id')
    .notNull()
    .references(() => users.id),
  isOperator: integer('is_operator', { mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  /** What has made it (DER-3); null: the previous version, which did not say, so it opens nothing. */
  parent: text('parent'),
})

/** What users have decided of devices, under hashes of the codes that these show. A device that waits has no row (DER-9). */
export const deviceLogins = sqliteTable(
  'device_logins',
  {
    id: text('id').primaryKey(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    status: text('status', { enum: DECISIONS }).notNull(),
    /** What was let in: whose key, for which account, with what. */
    userId: text('user_id').references(() => users.id),
    teamId: text('team_id').references(() => teams.id),
    /** Id of the session that has let it in: the key is made while that is good (DER-7). */
    credentialId: text('credential_id'),
    permission: text('permission', { enum: PERMISSIONS }),
    scopes: text('scopes', { mode: 'json' }).$type<string[]>(),
  },
  (t) => [index('device_logins_expires').on(t.expiresAt)],
)
