import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { teamId } from './accounts.ts'

/** Requests with an `Idempotency-Key` (POD-22). A row without a response is the claim of a running request. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    teamId: teamId(),
    /** The requested operation; the same key may be used once for each. */
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    /** Id of the claim of the request that holds the key; a request that takes over an abandoned claim writes its own. */
    claim: text('claim').notNull(),
    /** Keyed digest of the body. */
    fingerprint: text('fingerprint').notNull(),
    claimedAt: integer('claimed_at').notNull(),
    /** The first answer, as JSON. */
    response: text('response'),
  },
  (t) => [primaryKey({ columns: [t.teamId, t.operation, t.key] }), index('idempotency_keys_claimed').on(t.claimedAt)],
)
