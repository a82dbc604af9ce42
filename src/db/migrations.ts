import { sql } from 'drizzle-orm'
import journal from '../../migrations/meta/_journal.json' with { type: 'json' }
import type { Database } from './client.ts'

/** Migration files of this release, in order. */
export const KNOWN_MIGRATIONS: readonly string[] = journal.entries.map(({ tag }) => `${tag}.sql`)

/** Migrations that wrangler has recorded as applied, oldest first. */
export async function listAppliedMigrations(db: Database): Promise<string[]> {
  const rows = await db.all<{ name: string }>(sql`SELECT name FROM d1_migrations ORDER BY id`)
  return rows.map(({ name }) => name)
}
