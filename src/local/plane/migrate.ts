import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { convertV4MiniflareOptions, type Miniflare } from 'miniflare'
import { OperatorError } from '../../node/fail.ts'
import { readJsonFile, writeJsonFile } from '../../node/json-file.ts'
import { PROJECT_ROOT } from '../paths.ts'
import type { WorkerSettings } from './bundle.ts'
import { applyMigrations, listApplied, listMigrations, type MigrationDatabase, SELECT_APPLIED } from './migrations.ts'
import { runtimeOptions, startRuntime } from './runtime.ts'

/** A file that records that the database of a storage directory has had its tables. */
const MARK = 'database.json'

/**
 * Throws if a database has lost its tables (PLANE-14). Such a database looks new: a migration would create empty tables and silently drop
 * all keys and accounts.
 */
function checkTables(storage: string, applied: number): void {
  if (applied > 0 || readJsonFile(join(storage, MARK)) === undefined) return
  throw new OperatorError(
    `the database in ${join(storage, 'd1')} has lost its tables: accounts, keys, endpoints and pods are not readable, while queues (${join(storage, 'do')}) may be whole. ` +
      `Restore that directory from a copy, or remove the whole data directory to begin anew`,
  )
}

/**
 * Whether all migrations have been applied, read directly from the database file: a runtime only for this check would double the time of a
 * start.
 */
function isUpToDate(storage: string, directory: string): boolean {
  if (readJsonFile(join(storage, MARK)) === undefined) return false
  try {
    const names = readdirSync(join(storage, 'd1'), { recursive: true, encoding: 'utf8' })
    const [file, ...others] = names.filter((name) => name.endsWith('.sqlite') && !name.endsWith('metadata.sqlite'))
    if (file === undefined || others.length > 0) return false
    const database = new DatabaseSync(join(storage, 'd1', file), { readOnly: true })
    try {
      const applied = new Set(
        database
          .prepare(SELECT_APPLIED)
          .all()
          .map(({ name }) => name),
      )
      return listMigrations(directory).every((name) => applied.has(name))
    } finally {
      database.close()
    }
  } catch {
    // The file is in use or damaged; the runtime reports the error.
    return false
  }
}

/**
 * Runs the statements of one request in one transaction, inside the runtime: Miniflare's proxy would block this thread for each statement.
 * It listens on its own port for a moment, so it requires a secret: any program on the machine, and any web page, can reach that port.
 */
const MIGRATOR = `export default { async fetch(request, env) {
  if (request.headers.get('Authorization') !== env.SECRET) return new Response('', { status: 403 })
  const bound = ({ sql, values }) => env.DB.prepare(sql).bind(...values)
  try {
    const results = await env.DB.batch((await request.json()).map(bound))
    return Response.json(results.map((one) => one.results))
  } catch (error) {
    return new Response(error.message, { status: 500 })
  }
} }`

interface BoundStatement {
  sql: string
  values: unknown[]
}

/** Returns the database of a runtime that runs `MIGRATOR`. */
function databaseOf(miniflare: Miniflare, secret: string): MigrationDatabase<BoundStatement> {
  const batch = async (statements: BoundStatement[]) => {
    const reply = await miniflare.dispatchFetch('http://migrations/', {
      method: 'POST',
      headers: { Authorization: secret },
      body: JSON.stringify(statements),
    })
    if (!reply.ok) throw new Error(await reply.text())
    return (await reply.json()) as unknown[][]
  }
  const prepare = (sql: string) => {
    const statement = { sql, values: [] }
    return {
      ...statement,
      bind: (...values: unknown[]) => ({ sql, values }),
      all: async <Row>() => ({ results: ((await batch([statement]))[0] ?? []) as Row[] }),
    }
  }
  return { prepare, batch: (statements) => batch(statements.map(({ sql, values }) => ({ sql, values }))) }
}

/**
 * Applies pending migrations to a storage directory, in a separate runtime without a public socket, so that no plane serves clients with a
 * database older than its code (PLANE-10). Returns the names of the applied ones.
 */
export async function migrateStorage(storage: string, settings: WorkerSettings, onLog: (line: string) => void): Promise<string[]> {
  const directory = join(PROJECT_ROOT, 'migrations')
  if (!settings.d1Databases.includes('DB') || isUpToDate(storage, directory)) return []
  const secret = randomUUID()
  const { miniflare } = await startRuntime(
    convertV4MiniflareOptions({
      ...runtimeOptions(storage, onLog),
      workers: [
        {
          name: 'migrations',
          compatibilityDate: settings.compatibilityDate,
          modules: [{ type: 'ESModule', path: 'worker.js', contents: MIGRATOR }],
          bindings: { SECRET: secret },
          d1Databases: { DB: 'DB' },
        },
      ],
    }),
  )
  try {
    const database = databaseOf(miniflare, secret)
    checkTables(storage, (await listApplied(database)).length)
    const applied = await applyMigrations(database, directory)
    writeJsonFile(join(storage, MARK), { hasTables: true })
    return applied
  } finally {
    await miniflare.dispose()
  }
}
