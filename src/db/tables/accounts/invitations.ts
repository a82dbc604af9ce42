import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { ROLES } from '../../../domain/access.ts'
import { teamId, users } from './accounts.ts'

/** Invitations to organizations. The link's token itself is never stored, only its keyed digest. */
export const invitations = sqliteTable(
  'invitations',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    email: text('email').notNull(),
    role: text('role', { enum: ROLES }).notNull(),
    tokenHash: text('token_hash').notNull(),
    invitedBy: text('invited_by')
      .notNull()
      .references(() => users.id),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** How it ended; null: it is open until it expires. */
    outcome: text('outcome', { enum: ['ACCEPTED', 'DECLINED', 'REVOKED'] }),
    endedAt: integer('ended_at'),
    /** The API key that made it and with which it ends (DER-32); null: none, or not recorded. */
    parent: text('parent'),
  },
  (t) => [
    uniqueIndex('invitations_token').on(t.tokenHash),
    index('invitations_team').on(t.teamId, t.createdAt),
    index('invitations_email').on(t.email),
  ],
)
