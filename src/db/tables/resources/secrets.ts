import { integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { teamId } from '../accounts/accounts.ts'

/** Named values that the env of workloads refers to. The values are in `secret_parts`. */
export const secrets = sqliteTable(
  'secrets',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    name: text('name').notNull(),
    description: text('description'),
    /** Version of the current value; a rotation writes the next value before it points to it. */
    version: integer('version').notNull(),
    /** UTF-8 bytes of the value. */
    bytes: integer('bytes').notNull(),
    createdAt: integer('created_at').notNull(),
    valueUpdatedAt: integer('value_updated_at'),
  },
  (t) => [uniqueIndex('secrets_team_name').on(t.teamId, t.name)],
)

/** A value in parts that fit in a row of D1, each sealed for its place. */
export const secretParts = sqliteTable(
  'secret_parts',
  {
    secretId: text('secret_id')
      .notNull()
      .references(() => secrets.id, { onDelete: 'cascade' }),
    version: integer('version').notNull(),
    part: integer('part').notNull(),
    sealed: text('sealed').notNull(),
  },
  (t) => [primaryKey({ columns: [t.secretId, t.version, t.part] })],
)
