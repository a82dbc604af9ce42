import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { StoppedItem } from '../../../contract/billing/stops.ts'
import { teams } from '../accounts/accounts.ts'

/** What people have stopped to save money, for as long as they may want it back. */
export const spendStops = sqliteTable(
  'spend_stops',
  {
    id: text('id').primaryKey(),
    teamId: text('team_id')
      .notNull()
      .references(() => teams.id),
    createdAtMs: integer('created_at').notNull(),
    savedNanosPerHour: integer('saved_nanos_per_hour').notNull(),
    items: text('items', { mode: 'json' }).$type<StoppedItem[]>().notNull(),
    /** When everything was as before; null: it is not. */
    undoneAtMs: integer('undone_at'),
  },
  (t) => [index('spend_stops_team_created').on(t.teamId, t.createdAtMs)],
)
