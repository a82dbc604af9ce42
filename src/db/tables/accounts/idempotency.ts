import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { teams } from './accounts.ts'

/** What was sent under an `Idempotency-Key` (POD-22). A row without a response is the claim of a request that is still running. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    teamId: text('team_id')
      .notNull()
      .references(() => teams.id),
    /** What was asked for; one key may stand for one thing in each. */
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    /** Of the request that holds the key; whoever takes an abandoned one over writes another. */
    claim: text('claim').notNull(),
    /** Keyed digest of the body. */
    fingerprint: text('fingerprint').notNull(),
    claimedAt: integer('claimed_at').notNull(),
    /** The first answer, as JSON. */
    response: text('response'),
  },
  (t) => [primaryKey({ columns: [t.teamId, t.operation, t.key] }), index('idempotency_keys_claimed').on(t.claimedAt)],
)
