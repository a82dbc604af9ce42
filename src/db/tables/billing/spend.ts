import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { teams } from '../accounts/accounts.ts'

/** Spend limits of a team, and the action when one is exceeded; without a row the defaults apply. Money in millionths of a USD. */
export const spendLimits = sqliteTable(
  'spend_limits',
  {
    teamId: text('team_id')
      .primaryKey()
      .references(() => teams.id),
    /** The team's own hourly limit for everything that runs at a time; null: only the operator's ceiling applies. */
    microsPerHour: integer('micros_per_hour'),
    /** The team's own limit for a calendar month in UTC; null: only the operator's ceiling applies. */
    microsPerMonth: integer('micros_per_month'),
    /** The operator's hourly ceiling; null: the plane's default. */
    ceilingMicrosPerHour: integer('ceiling_micros_per_hour'),
    /** The operator's ceiling for a calendar month in UTC; null: none. */
    ceilingMicrosPerMonth: integer('ceiling_micros_per_month'),
    /** Whether running pods are stopped once a limit is exceeded. */
    stopsPods: integer('stops_pods', { mode: 'boolean' }).notNull().default(false),
    /** Webhook address of warnings; sealed, because an address may contain a secret. */
    webhookSealed: text('webhook_sealed'),
    /** The month (`2026-11`) for which the warning was sent. */
    warnedMonth: text('warned_month'),
    /** Whether the warning of the hourly rate was sent and the rate has not gone down since. */
    warnedRate: integer('warned_rate', { mode: 'boolean' }).notNull().default(false),
    /** When the limits were last checked. */
    checkedAt: integer('checked_at').notNull().default(0),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [index('spend_limits_watched').on(t.checkedAt).where(sql`${t.stopsPods} = 1 OR ${t.webhookSealed} IS NOT NULL`)],
)
