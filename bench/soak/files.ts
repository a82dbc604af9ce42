import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Reading, Readings } from './readings.ts'

const BUSY_MS = 200
/** Attempts on one database in one sample. */
const ATTEMPTS = 2
const LOG = 'write-ahead logs'

/** A directory and the families of the files below it. */
export interface Place {
  directory: string
  familyOf: (path: string) => string
}

interface Family {
  bytes: number
  files: number
  /** The largest database, with its write-ahead log. */
  largest?: { path: string; bytes: number }
}

/** Reads number and size of all files, by family, and the rows of the largest database of each family. */
export function readFiles(readings: Readings, atMs: number, places: readonly Place[]): void {
  const families = new Map<string, Family>()
  try {
    for (const place of places) addFamilies(families, place)
  } catch {
    // A directory was removed while it was listed.
    readings.skip('files')
    return
  }
  readings.scan(
    atMs,
    [...families].flatMap(([of, { bytes, files }]) => [
      { group: 'bytes', of, value: bytes },
      { group: 'files', of, value: files },
    ]),
  )
  for (const [family, { largest }] of families) {
    const rows = largest && countRows(largest.path)
    if (rows) readings.add(atMs, tablesOf(family, rows))
    else if (largest) readings.skip('rows', family, atMs)
  }
}

function tablesOf(family: string, rows: ReadonlyMap<string, number>): Reading[] {
  return [...rows].map(([table, value]) => ({ group: 'rows', of: `${family}.${table}`, value }))
}

function addFamilies(families: Map<string, Family>, { directory, familyOf }: Place): void {
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = sizeOf(path)
    if (bytes === undefined) continue
    const name = familyOf(relative(directory, path))
    const family = families.get(name) ?? { bytes: 0, files: 0 }
    family.bytes += bytes
    family.files += 1
    families.set(name, family)
    // Miniflare's list of the objects of a class is no object.
    if (!entry.name.endsWith('.sqlite') || entry.name === 'metadata.sqlite') continue
    const whole = bytes + (sizeOf(`${path}-wal`) ?? 0)
    if (whole > (family.largest?.bytes ?? 0)) family.largest = { path, bytes: whole }
  }
}

/** Size of a file; undefined if it was removed meanwhile. */
function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

/** Returns the family of a file in the data directory of the plane: D1, a class of objects, the bucket, the write-ahead logs of all, or the rest. */
export function planeFamily(path: string): string {
  const [top = '', kind = '', folder = ''] = path.split('/')
  if (top === 'logs') return 'logs of the plane'
  if (top !== 'plane') return 'other files of the plane'
  if (/-(wal|shm)$/.test(path)) return LOG
  if (kind === 'd1') return 'D1'
  if (kind === 'r2') return 'bucket of logs'
  if (kind === 'do') return folder.replace(/^podplane-/, '')
  return 'other files of the plane'
}

/** Returns the family of a file in the state directory of the agent. */
export function agentFamily(path: string): string {
  const [folder, ...rest] = path.split('/')
  return rest.length > 0 && ['logs', 'processes', 'workloads'].includes(folder ?? '')
    ? `${folder} of the agent`
    : 'other files of the agent'
}

/**
 * Counts the rows of each table of a database that another process writes; undefined if it cannot be read now. A database in use has a
 * write-ahead log and is read through it. One without is opened as immutable, because SQLite would create a log beside it.
 */
export function countRows(path: string): Map<string, number> | undefined {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    let database: DatabaseSync | undefined
    try {
      const url = pathToFileURL(path)
      if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1')
      database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_MS })
      return countIn(database)
    } catch {
      // Locked, or changed while it was read without locks.
    } finally {
      database?.close()
    }
  }
  return undefined
}

function countIn(database: DatabaseSync): Map<string, number> {
  const named = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'").all()
  return new Map(
    named.map(({ name }) => {
      const row = database.prepare(`SELECT COUNT(*) AS count FROM "${String(name)}"`).get()
      return [String(name), Number(row?.count)]
    }),
  )
}
