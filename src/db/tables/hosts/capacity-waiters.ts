import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { endpoints } from '../workloads/endpoints.ts'

/** Endpoints with a worker that found no host with capacity, so that they can be notified when there is some. */
export const capacityWaiters = sqliteTable(
  'capacity_waiters',
  {
    endpointId: text('endpoint_id')
      .primaryKey()
      .references(() => endpoints.id),
    since: integer('since').notNull(),
  },
  (t) => [index('capacity_waiters_since').on(t.since)],
)
