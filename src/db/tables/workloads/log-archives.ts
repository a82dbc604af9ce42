import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { LogKind } from '../../../host-protocol/logs.ts'

/** What each log has in the bucket of older lines, so that an account's logs have a bound together (JL-50). */
export const logArchives = sqliteTable(
  'log_archives',
  {
    kind: text('kind').$type<LogKind>().notNull(),
    /** Of a pod its id, of a worker that of its workload. */
    id: text('id').notNull(),
    teamId: text('team_id').notNull(),
    bytes: integer('bytes').notNull(),
    writtenAt: integer('written_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.id] }), index('log_archives_team').on(table.teamId, table.writtenAt)],
)
