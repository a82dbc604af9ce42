import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HEADER_BYTES, isDatabaseDamaged, isLogDamaged } from '../../domain/plane/sqlite-file.ts'
import { hasCode } from '../../node/fail.ts'

/** Folders of D1 and of Durable Objects. */
const FOLDERS = ['d1', 'do']
/** A checkpoint writes page by page, so a file that only seems truncated is complete after this pause, milliseconds. */
const RETRY_AFTER_MS = 500

/**
 * Returns the sorted paths, below `storage`, of database files that are certainly damaged. Files in `known` are not checked twice. Reads
 * one page of each file.
 */
export async function findDamaged(storage: string, known: readonly string[]): Promise<string[]> {
  const files = await listDatabases(storage)
  const suspects = []
  for (const name of files) if (await isDamaged(join(storage, name))) suspects.push(name)
  if (suspects.every((name) => known.includes(name))) return suspects.sort()
  await sleep(RETRY_AFTER_MS)
  const damaged = []
  for (const name of suspects) if (await isDamaged(join(storage, name))) damaged.push(name)
  return damaged.sort()
}

/** Returns the paths, below `storage`, of the database files and their write-ahead logs. */
export async function listDatabases(storage: string): Promise<string[]> {
  return (await Promise.all(FOLDERS.map((folder) => listFolder(storage, folder)))).flat()
}

async function listFolder(storage: string, folder: string): Promise<string[]> {
  try {
    const names = await readdir(join(storage, folder), { recursive: true })
    return names.filter((name) => /\.sqlite(-wal)?$/.test(name)).map((name) => join(folder, name))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

async function isDamaged(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
      const header = buffer.subarray(0, bytesRead)
      return path.endsWith('-wal') ? isLogDamaged(header) : isDatabaseDamaged(header, (await file.stat()).size)
    } finally {
      await file.close()
    }
  } catch (error) {
    // The file was removed meanwhile.
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
