import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

/** Whether a column has one of these values. They are one parameter, because a statement of D1 has at most 100. */
export function isOneOf(column: AnyColumn | SQL, values: readonly string[]): SQL {
  return sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`
}
