import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { EndpointConfig } from '../../../domain/endpoint/record.ts'
import type { Sealed } from '../../sealed-env.ts'
import { teamId } from '../accounts/accounts.ts'

/** Configuration of Serverless endpoints; each queue lives in its own endpoint object. */
export const endpoints = sqliteTable(
  'endpoints',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    name: text('name').notNull(),
    config: text('config', { mode: 'json' }).$type<Sealed<EndpointConfig>>().notNull(),
    /** Copy of `config.revision`, for guarded updates: `UPDATE … WHERE id = ? AND revision = ?`. */
    revision: integer('revision').notNull(),
    createdAt: integer('created_at').notNull(),
    /** Deleted endpoints keep their row, so that an id is never reused. */
    deletedAt: integer('deleted_at'),
    /** Bytes of the team's budget that are reserved for its queue (BUDGET-3). */
    grantedBytes: integer('granted_bytes').notNull().default(0),
  },
  (t) => [
    index('endpoints_team_created').on(t.teamId, t.createdAt, t.id),
    // Not partial: SQLite would begin other statements with it, as if few endpoints were not deleted.
    index('endpoints_team_names').on(t.teamId, sql`${t.name} COLLATE NOCASE`, t.id),
  ],
)

export const releases = sqliteTable(
  'releases',
  {
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => endpoints.id),
    version: integer('version').notNull(),
    id: text('id').notNull(),
    createdByUserId: text('created_by_user_id'),
    diff: text('diff', { mode: 'json' }).$type<{ field: string; old: unknown; new: unknown }[]>().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.endpointId, t.version] })],
)
