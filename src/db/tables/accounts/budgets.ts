import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { BudgetOverrides } from '../../../contract/accounts/budgets.ts'
import { teams } from './accounts.ts'

/** Bounds of a team that override the defaults (BUDGET-2); without a row or field the default applies. */
export const budgets = sqliteTable('budgets', {
  teamId: text('team_id')
    .primaryKey()
    .references(() => teams.id),
  bounds: text('bounds', { mode: 'json' }).$type<BudgetOverrides>().notNull(),
  updatedAt: integer('updated_at').notNull(),
})
