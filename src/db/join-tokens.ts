import type { Database } from './client.ts'
import { joinTokens } from './schema.ts'

export type JoinTokenRow = typeof joinTokens.$inferSelect

/** Stores a single-use token's hash. */
export async function insertJoinToken(db: Database, row: JoinTokenRow): Promise<void> {
  await db.insert(joinTokens).values(row)
}
