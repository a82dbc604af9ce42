import { closeSync, fsyncSync, ftruncateSync, openSync, rmSync, statfsSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { mayReserve, reserveAfter, reserveBytes, type StorageFacts, storageRoom } from '../../domain/plane/storage-room.ts'
import { errorText } from '../../node/fail.ts'
import { findDamaged } from './damaged-files.ts'
import { findLostLogs, noteLogs } from './known-logs.ts'

const ROOM_EVERY_MS = 1_000
const FILES_EVERY_MS = 60_000
const LOGS_EVERY_MS = 10_000
const MIB = 2 ** 20

/** Watches the disk and the database files of a local plane (PLANE-12, PLANE-14). */
export interface StorageWatch {
  /**
   * Returns the current state of the disk and the last known state of the files. If a write failed on a full disk, the reserve is released
   * before this resolves.
   */
  facts(writeFailed: boolean): Promise<StorageFacts>
  stop(): void
}

/**
 * Watches the disk below a storage directory (PLANE-12) and its database files (PLANE-14, PLANE-16). While there is room it holds a reserve
 * file. It releases that file in parts once the disk is full, because databases need some pages to be opened and read. `onChange` receives a
 * line when something has changed.
 */
export async function watchStorage(storage: string, onChange: (line: string) => void): Promise<StorageWatch> {
  const reserve = reservePath(storage)
  let facts: StorageFacts = { freeBytes: 0, totalBytes: 0, reservedBytes: 0, damaged: [] }
  let reported = ''
  let steadySince = 0
  let releasedAt = 0

  const readRoom = (writeFailed: boolean) => {
    const disk = readDisk(storage)
    if (disk.freeBytes < facts.freeBytes) steadySince = performance.now()
    facts = { ...facts, ...disk, reservedBytes: statSync(reserve, { throwIfNoEntry: false })?.size ?? 0 }
    const nowMs = performance.now()
    const left = reserveAfter(facts, { steadyMs: nowMs - steadySince, releasedMs: nowMs - releasedAt, writeFailed })
    if (left < facts.reservedBytes) {
      truncateSync(reserve, left)
      releasedAt = nowMs
      facts.reservedBytes = left
    } else if (facts.reservedBytes < reserveBytes(disk.totalBytes) && mayReserve(disk)) {
      setAside(reserve, reserveBytes(disk.totalBytes))
      facts.reservedBytes = reserveBytes(disk.totalBytes)
    }
  }
  let damaged: string[] = []
  let withoutLog: string[] = []
  const readFiles = async () => {
    damaged = await findDamaged(storage, damaged)
    facts = { ...facts, damaged: [...damaged, ...withoutLog] }
  }
  const findLogs = async () => {
    withoutLog = (await findLostLogs(storage)).map(
      (path) => `${path} (its log is gone; once restored or given up, remove logs.json beside do)`,
    )
  }
  const report = () => {
    const room = storageRoom(facts)
    const now = JSON.stringify([room, facts.damaged])
    if (now === reported) return
    reported = now
    if (room !== 'OK') onChange(`the disk of ${storage} is ${room.toLowerCase()}: ${Math.floor(facts.freeBytes / MIB)} MiB are free`)
    if (facts.damaged.length > 0) onChange(`damaged database files in ${storage}: ${facts.damaged.join(', ')}`)
  }
  // A directory that is unreadable for a moment is read again later; the error must not end the plane.
  const guarded = (read: () => void | Promise<void>) => async () => {
    try {
      await read()
      report()
    } catch (error) {
      onChange(`the storage could not be checked: ${errorText(error)}`)
    }
  }
  const checkRoom = (writeFailed = false) => guarded(() => readRoom(writeFailed))()
  const checkFiles = guarded(readFiles)
  const checkLogs = guarded(() => noteLogs(storage))
  await checkRoom()
  // This check must run before a runtime opens the databases.
  await guarded(findLogs)()
  await checkFiles()
  const timers = [
    setInterval(() => checkRoom(), ROOM_EVERY_MS),
    setInterval(checkFiles, FILES_EVERY_MS),
    setInterval(checkLogs, LOGS_EVERY_MS),
  ]
  for (const timer of timers) timer.unref()
  return {
    async facts(writeFailed) {
      await checkRoom(writeFailed)
      return facts
    },
    stop() {
      for (const timer of timers) clearInterval(timer)
    },
  }
}

/** Releases the reserve of an earlier run: a start writes some files before the disk is watched. */
export function releaseReserve(storage: string): void {
  rmSync(reservePath(storage), { force: true })
}

const reservePath = (storage: string): string => join(storage, 'reserve')

function readDisk(path: string): Pick<StorageFacts, 'freeBytes' | 'totalBytes'> {
  const { bsize, blocks, bfree, bavail } = statfsSync(path)
  // Some blocks are reserved for root.
  return { totalBytes: bsize * blocks, freeBytes: bsize * (process.getuid?.() === 0 ? bfree : bavail) }
}

/** Writes the reserve, or none if there is no room for all of it. It consists of zeros, because a sparse file would take no room. */
function setAside(path: string, bytes: number): void {
  const fd = openSync(path, 'w', 0o600)
  try {
    const zeros = Buffer.alloc(MIB)
    for (let written = 0; written < bytes; ) written += writeSync(fd, zeros, 0, Math.min(MIB, bytes - written))
    fsyncSync(fd)
  } catch (error) {
    ftruncateSync(fd)
    throw error
  } finally {
    closeSync(fd)
  }
}
