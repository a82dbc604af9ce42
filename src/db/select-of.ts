import { getTableColumns, SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

/**
 * The SELECT of an INSERT … SELECT, with its values by column: SQLite assigns them by position, so that a new or moved column would shift
 * them. `rest` follows the values, such as FROM and WHERE.
 */
export function selectOf<Table extends SQLiteTable>(
  table: Table,
  values: { readonly [Column in keyof Table['$inferSelect']]: Table['$inferSelect'][Column] | SQL },
  rest: SQL,
): SQL {
  const given = new Map(Object.entries(values))
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const value = given.get(name)
    return value instanceof SQL ? value : sql`${sql.param(value, column)}`
  })
  return sql`SELECT ${sql.join(columns, sql`, `)} ${rest}`
}
