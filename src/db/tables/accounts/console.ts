import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { PERMISSIONS } from '../../../contract/enums.ts'
import { SIGN_IN_WAYS } from '../../../domain/session/console.ts'
import { DECISIONS } from '../../../domain/session/device-login.ts'
import { teams, userId, users } from './accounts.ts'

/** Sessions of the console (SESSION-1). Only the browser has the secret; the id is a hash of it. */
export const consoleSessions = sqliteTable(
  'console_sessions',
  {
    id: text('id').primaryKey(),
    made: text('made', { enum: SIGN_IN_WAYS }).notNull(),
    /** Null for the operator's, who is not a user. */
    userId: text('user_id').references(() => users.id),
    /** The key that it acts as and ends with; for the operator's key a digest. */
    keyId: text('key_id'),
    isOperator: integer('is_operator', { mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** Last use, accurate to a few minutes. */
    seenAt: integer('seen_at').notNull(),
    revokedAt: integer('revoked_at'),
    /** For a session by link: the credential that made the link (DER-3). */
    parent: text('parent'),
  },
  (t) => [
    index('console_sessions_user').on(t.userId, t.createdAt),
    index('console_sessions_expires').on(t.expiresAt),
    index('console_sessions_parent').on(t.parent),
  ],
)

/** Links that open a session once (SESSION-15); the row is deleted on use. */
export const signInLinks = sqliteTable('sign_in_links', {
  id: text('id').primaryKey(),
  userId: userId(),
  isOperator: integer('is_operator', { mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  /** The credential that made it (DER-3); null: a release that did not record it, so the link opens nothing. */
  parent: text('parent'),
})

/** Decisions of users about devices, under hashes of the codes that the devices show. A waiting device has no row (DER-9). */
export const deviceLogins = sqliteTable(
  'device_logins',
  {
    id: text('id').primaryKey(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    status: text('status', { enum: DECISIONS }).notNull(),
    /** The approved access: user, account, permission and scopes of the key. */
    userId: text('user_id').references(() => users.id),
    teamId: text('team_id').references(() => teams.id),
    /** Id of the session that approved it: the key is made only while that session is valid (DER-7). */
    credentialId: text('credential_id'),
    permission: text('permission', { enum: PERMISSIONS }),
    scopes: text('scopes', { mode: 'json' }).$type<string[]>(),
  },
  (t) => [index('device_logins_expires').on(t.expiresAt)],
)
