import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { StoppedItem } from '../../../contract/billing/stops.ts'
import { teamId } from '../accounts/accounts.ts'

/** Resources that users have stopped to save money, retained for restarting them. */
export const spendStops = sqliteTable(
  'spend_stops',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    createdAtMs: integer('created_at').notNull(),
    savedNanosPerHour: integer('saved_nanos_per_hour').notNull(),
    items: text('items', { mode: 'json' }).$type<StoppedItem[]>().notNull(),
    /** When everything was restarted; null: it is not. */
    undoneAtMs: integer('undone_at'),
  },
  (t) => [index('spend_stops_team_created').on(t.teamId, t.createdAtMs)],
)
