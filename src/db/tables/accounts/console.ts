import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { PERMISSIONS } from '../../../contract/enums.ts'
import { SIGN_IN_WAYS } from '../../../domain/session/console.ts'
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
  },
  (t) => [index('console_sessions_user').on(t.userId, t.createdAt), index('console_sessions_expires').on(t.expiresAt)],
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
})

/** Devices that wait for somebody to let them in. Both codes are hashes. A key is made when it is handed out, so none is here. */
export const deviceLogins = sqliteTable(
  'device_logins',
  {
    id: text('id').primaryKey(),
    userCode: text('user_code').notNull(),
    /** What the device calls itself. */
    name: text('name').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    intervalSeconds: integer('interval_seconds').notNull(),
    polledAt: integer('polled_at'),
    status: text('status', { enum: ['PENDING', 'APPROVED', 'DENIED'] }).notNull(),
    /** What was let in: whose key, for which account, with what. */
    userId: text('user_id').references(() => users.id),
    teamId: text('team_id').references(() => teams.id),
    credentialId: text('credential_id'),
    permission: text('permission', { enum: PERMISSIONS }),
    scopes: text('scopes', { mode: 'json' }).$type<string[]>(),
  },
  (t) => [uniqueIndex('device_logins_user_code').on(t.userCode), index('device_logins_expires').on(t.expiresAt)],
)
