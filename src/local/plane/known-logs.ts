import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isLogLost } from '../../domain/plane/sqlite-file.ts'
import { hasCode } from '../../node/fail.ts'
import { readJsonFile, writeLosableJsonFile } from '../../node/json-file.ts'
import { listDatabases } from './damaged-files.ts'

/** The file with the write-ahead logs found by the last check, and the databases that have lost theirs since. */
const FILE = 'logs.json'
const LOG = '-wal'
const Known = z.object({
  /** Last modification of each log by its path below the storage, milliseconds. */
  logs: z.record(z.string(), z.number()),
  /** Databases without their log. They stay listed until this file is removed, because a database does not show whether it was restored. */
  lost: z.array(z.string()),
})

/**
 * Records the write-ahead logs of a storage directory (PLANE-16). A database whose log is lost before it was written back is consistent but
 * older than the acknowledged state, and the file itself does not show that.
 */
export async function noteLogs(storage: string): Promise<void> {
  const { lost } = readKnown(storage)
  const logs: Record<string, number> = {}
  for (const path of await listDatabases(storage)) {
    if (!path.endsWith(LOG)) continue
    const log = await facts(join(storage, path))
    if (log !== undefined && log.size > 0) logs[path] = log.mtimeMs
  }
  writeLosableJsonFile(join(storage, FILE), { logs, lost })
}

/**
 * Returns the databases that have lost their logs, as sorted paths below the storage, and records them. Call it before a runtime uses the
 * directory.
 */
export async function findLostLogs(storage: string): Promise<string[]> {
  const { logs, lost: before } = readKnown(storage)
  const lost = new Set(before)
  for (const [path, logWrittenMs] of Object.entries(logs)) {
    const database = path.slice(0, -LOG.length)
    const [log, main] = await Promise.all([facts(join(storage, path)), facts(join(storage, database))])
    if (isLogLost({ logWrittenMs, logBytes: log?.size ?? 0, databaseWrittenMs: main?.mtimeMs ?? null })) lost.add(database)
  }
  if (lost.size > before.length) writeLosableJsonFile(join(storage, FILE), { logs, lost: [...lost] })
  return [...lost].sort()
}

function readKnown(storage: string): z.infer<typeof Known> {
  return Known.safeParse(readJsonFile(join(storage, FILE))).data ?? { logs: {}, lost: [] }
}

async function facts(path: string): Promise<{ size: number; mtimeMs: number } | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
