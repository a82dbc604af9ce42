/** Damage that the headers of a database file and of its write-ahead log show (PLANE-14). Pure; the formats are SQLite's. */

const MAGIC = 'SQLite format 3\0'
/** Header length of a database file, bytes; the header of a log is shorter. */
export const HEADER_BYTES = 100
const WAL_HEADER_BYTES = 32
const WAL_MAGICS = [0x377f0682, 0x377f0683]
const PAGE_SIZE_OFFSET = 16
const CHANGE_COUNTER_OFFSET = 24
const PAGE_COUNT_OFFSET = 28
const VALID_FOR_OFFSET = 92
const LARGEST_PAGE_BYTES = 65_536

/** Whether a database file is damaged: it has no valid header, or it ends before its last page. An empty file is a new database. */
export function isDatabaseDamaged(header: Uint8Array, sizeBytes: number): boolean {
  if (sizeBytes === 0) return false
  if (header.length < HEADER_BYTES || new TextDecoder('latin1').decode(header.subarray(0, MAGIC.length)) !== MAGIC) return true
  const view = new DataView(header.buffer, header.byteOffset, header.length)
  // The page count in the header is valid only while both counters are equal.
  if (view.getUint32(CHANGE_COUNTER_OFFSET) !== view.getUint32(VALID_FOR_OFFSET)) return false
  const pageBytes = view.getUint16(PAGE_SIZE_OFFSET) === 1 ? LARGEST_PAGE_BYTES : view.getUint16(PAGE_SIZE_OFFSET)
  return sizeBytes < view.getUint32(PAGE_COUNT_OFFSET) * pageBytes
}

/**
 * Whether a database has lost its log. SQLite writes the log back into the database before it removes the log, so after a regular close the
 * database is newer than the log. Times in milliseconds; `databaseWrittenMs` is null where there is no database.
 */
export function isLogLost(facts: { logWrittenMs: number; logBytes: number; databaseWrittenMs: number | null }): boolean {
  return facts.logBytes === 0 && facts.databaseWrittenMs !== null && facts.databaseWrittenMs < facts.logWrittenMs
}

/** Whether a log begins with bytes other than its header. A log of zeros is empty: its first write never reached the disk. */
export function isLogDamaged(header: Uint8Array): boolean {
  if (header.length < WAL_HEADER_BYTES) return false
  const magic = new DataView(header.buffer, header.byteOffset, header.length).getUint32(0)
  return !WAL_MAGICS.includes(magic) && header.subarray(0, WAL_HEADER_BYTES).some((byte) => byte !== 0)
}
