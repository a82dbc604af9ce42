import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { teamId } from '../accounts/accounts.ts'

/**
 * Credentials for private images. User name and password are sealed (src/services/resources/registries.ts), so the table alone reveals
 * neither.
 */
export const registries = sqliteTable(
  'registries',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    name: text('name').notNull(),
    usernameSealed: text('username_sealed').notNull(),
    passwordSealed: text('password_sealed').notNull(),
    createdAt: integer('created_at').notNull(),
    /** Null: it was created without one, and no image has been used with it yet (REG-20). */
    host: text('host'),
  },
  (t) => [index('registries_team_created').on(t.teamId, t.createdAt, t.id)],
)
