import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isLogLost } from '../../domain/plane/sqlite-file.ts'
import { hasCode } from '../../node/fail.ts'
import { readJsonFile, writeLosableJsonFile } from '../../node/json-file.ts'
import { listDatabases } from './damaged-files.ts'

/** Which write-ahead logs there were when somebody looked last, and which databases have lost theirs since. */
const FILE = 'logs.json'
const LOG = '-wal'
const Known = z.object({
  /** By its path below the storage: when each log was written last, milliseconds. */
  logs: z.record(z.string(), z.number()),
  /** Said until this file is removed: nobody can see from a database whether it was restored. */
  lost: z.array(z.string()),
})

/**
 * Remembers the logs of a storage directory (PLC-7). Until its log is written back, a database without it is whole, and older than what was
 * acknowledged: nothing in the file itself says so.
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

/** Databases that have lost their logs, as paths below the storage, sorted. For a directory that no runtime uses yet; what it finds stays known. */
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
