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

/** Says that the database of a storage directory has had its tables once. */
const MARK = 'database.json'

/** A database that has lost its tables reads as a new one: with new tables, all keys and accounts would be gone without a word (PLC-5). */
function checkTables(storage: string, applied: number): void {
  if (applied > 0 || readJsonFile(join(storage, MARK)) === undefined) return
  throw new OperatorError(
    `the database in ${join(storage, 'd1')} has lost its tables: accounts, keys, endpoints and pods are not readable, while queues (${join(storage, 'do')}) may be whole. ` +
      `Restore that directory from a copy, or remove the whole data directory to begin anew`,
  )
}

/** Whether the database has had every migration, read from its file: a runtime for this alone would double the time of a start. */
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
    // Another program reads it, or it is damaged: the runtime will say.
    return false
  }
}

/**
 * Runs the statements of one request in one transaction, beside the database: Miniflare's proxy would block this thread for each of them. It listens
 * on a port of its own for a moment, so it asks for a secret: any program on the machine, and any web page, can reach that.
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

/** The database of a runtime that runs `MIGRATOR`. */
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
 * Brings the database of a storage directory up to date, in a runtime of its own without a public socket: no client is served by a plane whose
 * database is older than its code (PLC-1).
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
