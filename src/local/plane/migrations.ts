import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../node/fail.ts'

/** The part of D1's API that migrations need. */
export interface MigrationDatabase<Statement> {
  prepare(sql: string): Statement & { bind(...values: unknown[]): Statement; all<Row>(): Promise<{ results: Row[] }> }
  batch(statements: Statement[]): Promise<unknown>
}

const STATEMENT_BREAKPOINT = '--> statement-breakpoint'
// Wrangler's own table, so that `wrangler d1 migrations` and `npm start` agree on the applied migrations.
const CREATE_BOOKKEEPING =
  'CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)'

/** Fails on a database without that table. */
export const SELECT_APPLIED = 'SELECT name FROM d1_migrations'

/** Applies the pending migrations in order of their names, each file entirely or not at all. Returns their names. */
export async function applyMigrations<Statement>(database: MigrationDatabase<Statement>, directory: string): Promise<string[]> {
  const applied = new Set(await listApplied(database))
  const pending = listMigrations(directory).filter((name) => !applied.has(name))
  for (const name of pending) await applyFile(database, directory, name)
  return pending
}

/** Returns the names of all migrations in the order of application. */
export function listMigrations(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort()
}

/** Returns the names of the migrations that a database has had. */
export async function listApplied<Statement>(database: MigrationDatabase<Statement>): Promise<string[]> {
  await database.batch([database.prepare(CREATE_BOOKKEEPING)])
  const { results } = await database.prepare(SELECT_APPLIED).all<{ name: string }>()
  return results.map((row) => row.name)
}

async function applyFile<Statement>(database: MigrationDatabase<Statement>, directory: string, name: string): Promise<void> {
  const statements = splitStatements(readFileSync(join(directory, name), 'utf8'))
  try {
    await database.batch([
      ...statements.map((sql) => database.prepare(sql)),
      database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name),
    ])
  } catch (error) {
    throw new OperatorError(`migration ${name} failed and was not applied: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Statements of a migration file, in their order. */
export function splitStatements(sql: string): string[] {
  return sql
    .split(STATEMENT_BREAKPOINT)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
