import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { teams } from '../accounts/accounts.ts'

/** What a team may spend, and what happens past it; no row means the defaults. Money in millionths of a USD. */
export const spendLimits = sqliteTable(
  'spend_limits',
  {
    teamId: text('team_id')
      .primaryKey()
      .references(() => teams.id),
    /** The team's own, of all that runs at one time; null: as much as the operator lets it. */
    microsPerHour: integer('micros_per_hour'),
    /** The team's own, of a calendar month in UTC; null: as much as the operator lets it. */
    microsPerMonth: integer('micros_per_month'),
    /** The most that the operator lets the team spend; null: the plane's default. */
    ceilingMicrosPerHour: integer('ceiling_micros_per_hour'),
    /** The same of a calendar month; null: no bound. */
    ceilingMicrosPerMonth: integer('ceiling_micros_per_month'),
    /** Running pods are stopped once a limit is passed. */
    stopsPods: integer('stops_pods', { mode: 'boolean' }).notNull().default(false),
    /** Where warnings go; sealed, because an address may hold a secret. */
    webhookSealed: text('webhook_sealed'),
    /** The month (`2026-11`) whose warning was sent. */
    warnedMonth: text('warned_month'),
    /** The warning of the hourly rate was sent, and the rate has not gone down since. */
    warnedRate: integer('warned_rate', { mode: 'boolean' }).notNull().default(false),
    /** When somebody looked whether a limit is near, or passed. */
    checkedAt: integer('checked_at').notNull().default(0),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [index('spend_limits_watched').on(t.checkedAt).where(sql`${t.stopsPods} = 1 OR ${t.webhookSealed} IS NOT NULL`)],
)
