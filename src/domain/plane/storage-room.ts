/** Free space on the disk of a plane, and the resulting state. Pure. */

/** State of the disk on which a plane stores everything. */
export interface StorageFacts {
  freeBytes: number
  totalBytes: number
  /** Present size of the reserve file. */
  reservedBytes: number
  /** Damaged database files, as paths relative to the storage directory. */
  damaged: readonly string[]
}

/** URLs at which the Worker queries the launcher for the state of the disk; the second one reports a failed write. */
export const STORAGE_URL = 'http://machine/storage'
export const WRITE_FAILED_URL = `${STORAGE_URL}?failed`

/** LOW: the operator should free space. FULL: the remaining space is for work that was accepted before (PLANE-12). */
export type StorageRoom = 'OK' | 'LOW' | 'FULL'

const MIB = 2 ** 20
const LOW_SHARE = 0.05
/** Absolute limit for LOW: on a large disk, a twentieth would last for weeks. */
const LOW_MAX_BYTES = 10 * 1024 * MIB
/** File systems reserve up to a fiftieth of the disk, so writes fail before the free space is 0. */
const FULL_SHARE = 0.04
const FULL_MAX_BYTES = 64 * MIB
/** A program that fills a disk writes at shorter intervals than this, milliseconds. */
const STEADY_MS = 500
const RESERVE_SHARE = 0.04
const RESERVE_MAX_BYTES = 32 * MIB
/** The reserve is released in parts, so that a program that fills the disk once more does not take all of it. */
const RESERVE_PARTS = 4

/** State of a disk by its free space. A full disk stays FULL until the reserve file fits again. A disk of unknown size is OK. */
export function storageRoom({ freeBytes, totalBytes, reservedBytes }: Omit<StorageFacts, 'damaged'>): StorageRoom {
  if (totalBytes <= 0) return 'OK'
  if (reservedBytes < reserveBytes(totalBytes) || freeBytes < fullBelowBytes(totalBytes)) return 'FULL'
  return freeBytes < Math.min(LOW_MAX_BYTES, LOW_SHARE * totalBytes) ? 'LOW' : 'OK'
}

/** Size in bytes of the whole reserve file, which is released when the disk is full so that databases can be opened and read (PLANE-12). */
export function reserveBytes(totalBytes: number): number {
  return Math.floor(Math.min(RESERVE_MAX_BYTES, RESERVE_SHARE * totalBytes))
}

/** Facts that decide whether a part of the reserve is released; times in milliseconds. */
export interface ReserveUse {
  /** Time since the free space last shrank. */
  steadyMs: number
  /** Time since the last part was released. */
  releasedMs: number
  writeFailed: boolean
}

/**
 * Size in bytes that the reserve file of a full disk should have: one part less once the free space has not shrunk for `STEADY_MS`, or at
 * once if a write has failed. Earlier, the program that fills the disk would take the freed space too. Further parts follow, at most one in
 * `STEADY_MS`, if the freed one has been taken or a write fails again.
 */
export function reserveAfter(facts: Omit<StorageFacts, 'damaged'>, { steadyMs, releasedMs, writeFailed }: ReserveUse): number {
  const { freeBytes, totalBytes, reservedBytes } = facts
  const whole = reserveBytes(totalBytes)
  const part = Math.ceil(whole / RESERVE_PARTS)
  const isWhole = reservedBytes >= whole
  const isNeeded = writeFailed || (steadyMs >= STEADY_MS && (isWhole || freeBytes < part))
  const isDue = isWhole || releasedMs >= STEADY_MS
  return storageRoom(facts) === 'FULL' && isNeeded && isDue ? Math.max(0, Math.min(reservedBytes, whole) - part) : reservedBytes
}

/** Whether the reserve file can be written again without making the disk FULL. */
export function mayReserve({ freeBytes, totalBytes }: Pick<StorageFacts, 'freeBytes' | 'totalBytes'>): boolean {
  return freeBytes > 1.5 * fullBelowBytes(totalBytes) + reserveBytes(totalBytes)
}

function fullBelowBytes(totalBytes: number): number {
  return Math.min(FULL_MAX_BYTES, FULL_SHARE * totalBytes)
}
