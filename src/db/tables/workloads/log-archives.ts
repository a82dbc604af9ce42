import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { LogKind } from '../../../host-protocol/logs.ts'

/** Size of each log in the bucket of older lines, so that the logs of an account have a common bound (LOG-35). */
export const logArchives = sqliteTable(
  'log_archives',
  {
    kind: text('kind').$type<LogKind>().notNull(),
    /** The id of a pod, or of a worker's workload. */
    id: text('id').notNull(),
    teamId: text('team_id').notNull(),
    bytes: integer('bytes').notNull(),
    writtenAt: integer('written_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.id] }), index('log_archives_team').on(table.teamId, table.writtenAt)],
)
