import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { VOLUME_TYPES } from '../../contract/enums.ts'
import { teams } from './accounts.ts'

/** Storage of one data center (VOL-1). */
export const networkVolumes = sqliteTable(
  'network_volumes',
  {
    id: text('id').primaryKey(),
    teamId: text('team_id')
      .notNull()
      .references(() => teams.id),
    name: text('name').notNull(),
    sizeGb: integer('size_gb').notNull(),
    dataCenterId: text('data_center_id').notNull(),
    type: text('type', { enum: VOLUME_TYPES }).notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [index('network_volumes_team_created').on(t.teamId, t.createdAt, t.id)],
)

/** Storage without a place; the name is unique in the account (GLV-2). */
export const globalVolumes = sqliteTable(
  'global_volumes',
  {
    id: text('id').primaryKey(),
    teamId: text('team_id')
      .notNull()
      .references(() => teams.id),
    name: text('name').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [uniqueIndex('global_volumes_team_name').on(t.teamId, t.name)],
)
