/** How much room the disk of a plane has, and what that means. Pure. */

/** What is known of the disk on which a plane stores everything. */
export interface StorageFacts {
  freeBytes: number
  totalBytes: number
  /** Whether the reserve is set aside. */
  hasReserve: boolean
  /** Files of databases that cannot be right, as paths below the storage. */
  damaged: readonly string[]
}

/** Where the Worker asks the launcher what it knows of the disk; the second one says that a write has failed. */
export const STORAGE_URL = 'http://machine/storage'
export const WRITE_FAILED_URL = `${STORAGE_URL}?failed`

/** LOW: the operator should make room. FULL: what is left is for work that was accepted before (PLC-3). */
export type StorageRoom = 'OK' | 'LOW' | 'FULL'

const MIB = 2 ** 20
const LOW_SHARE = 0.05
/** A twentieth of a large disk is room for weeks. */
const LOW_MAX_BYTES = 10 * 1024 * MIB
/** File systems keep up to a fiftieth back, so writes fail before nothing is left. */
const FULL_SHARE = 0.04
const FULL_MAX_BYTES = 64 * MIB
/** A program that fills a disk writes more often than this, milliseconds. */
const STEADY_MS = 500
const RESERVE_SHARE = 0.04
const RESERVE_MAX_BYTES = 32 * MIB

/** How a disk is, by what is free of it. It stays full until there is room for the reserve again. A disk of unknown size is in order. */
export function storageRoom({ freeBytes, totalBytes, hasReserve }: Omit<StorageFacts, 'damaged'>): StorageRoom {
  if (totalBytes <= 0) return 'OK'
  if (!hasReserve || freeBytes < fullBelowBytes(totalBytes)) return 'FULL'
  return freeBytes < Math.min(LOW_MAX_BYTES, LOW_SHARE * totalBytes) ? 'LOW' : 'OK'
}

/** Size of the file that is given up when the disk is full, so that databases can still be opened and read (PLC-3), bytes. */
export function reserveBytes(totalBytes: number): number {
  return Math.floor(Math.min(RESERVE_MAX_BYTES, RESERVE_SHARE * totalBytes))
}

/**
 * Whether the reserve of a full disk is given up now: once the free room has not shrunk for `steadyMs`, or a write has failed. Before that it
 * would go the way of the rest, to the program that fills the disk.
 */
export function mayGiveUpReserve(facts: Omit<StorageFacts, 'damaged'>, steadyMs: number, writeFailed: boolean): boolean {
  return facts.hasReserve && storageRoom(facts) === 'FULL' && (writeFailed || steadyMs >= STEADY_MS)
}

/** Whether there is room to set the reserve aside again without the disk being full right after. */
export function mayReserve({ freeBytes, totalBytes }: Pick<StorageFacts, 'freeBytes' | 'totalBytes'>): boolean {
  return freeBytes > 1.5 * fullBelowBytes(totalBytes) + reserveBytes(totalBytes)
}

function fullBelowBytes(totalBytes: number): number {
  return Math.min(FULL_MAX_BYTES, FULL_SHARE * totalBytes)
}
