import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { teams } from './accounts.ts'

/** What a team may spend, and what happens past it; no row means the defaults. Money in millionths of a USD. */
export const spendLimits = sqliteTable('spend_limits', {
  teamId: text('team_id')
    .primaryKey()
    .references(() => teams.id),
  /** Of all that runs at one time; null: the default. */
  microsPerHour: integer('micros_per_hour'),
  /** Of a calendar month in UTC; null: none. */
  microsPerMonth: integer('micros_per_month'),
  /** Running pods are stopped once a limit is passed. */
  stopsPods: integer('stops_pods', { mode: 'boolean' }).notNull().default(false),
  /** Where the warning goes; sealed, with the secret that signs it. */
  webhookSealed: text('webhook_sealed'),
  /** The month (`2026-11`) or the hour whose warning was sent. */
  warnedFor: text('warned_for'),
  updatedAt: integer('updated_at').notNull(),
})
