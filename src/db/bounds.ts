import { eq, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

/** Largest number of volumes of a kind, templates and credentials of one account: their lists are returned whole (PAG-5, RES-1). */
export const MAX_RESOURCES_PER_TEAM = 1000

/** A condition for the INSERT itself, so that concurrent requests cannot exceed the bound together. */
export function hasRoom(table: SQLiteTable & { teamId: SQLiteColumn }, teamId: string): SQL {
  return sql`(SELECT count(*) FROM ${table} WHERE ${eq(table.teamId, teamId)}) < ${MAX_RESOURCES_PER_TEAM}`
}
