import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { convertV4MiniflareOptions } from 'miniflare'
import { OperatorError } from '../../node/fail.ts'
import { readJsonFile, writeJsonFile } from '../../node/json-file.ts'
import { PROJECT_ROOT } from '../paths.ts'
import type { WorkerSettings } from './bundle.ts'
import { applyMigrations, listApplied, listMigrations, SELECT_APPLIED } from './migrations.ts'
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
 * Brings the database of a storage directory up to date, in a runtime of its own without a public socket (PLC-1). Miniflare's
 * database proxy blocks this thread until the runtime has answered. With clients on its socket, the runtime would log meanwhile
 * and could wait for this thread: neither would go on.
 */
export async function migrateStorage(storage: string, settings: WorkerSettings, onLog: (line: string) => void): Promise<string[]> {
  const directory = join(PROJECT_ROOT, 'migrations')
  if (!settings.d1Databases.includes('DB') || isUpToDate(storage, directory)) return []
  const { miniflare } = await startRuntime(
    convertV4MiniflareOptions({
      ...runtimeOptions(storage, onLog),
      workers: [
        {
          name: 'migrations',
          compatibilityDate: settings.compatibilityDate,
          modules: [{ type: 'ESModule', path: 'worker.js', contents: 'export default {}' }],
          d1Databases: { DB: 'DB' },
        },
      ],
    }),
  )
  try {
    const database = await miniflare.getD1Database('DB')
    checkTables(storage, (await listApplied(database)).length)
    const applied = await applyMigrations(database, directory)
    writeJsonFile(join(storage, MARK), { hasTables: true })
    return applied
  } finally {
    await miniflare.dispose()
  }
}
