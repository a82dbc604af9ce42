import {
  type ArchiveRow,
  beginArchive,
  deleteArchiveRows,
  findMovablePart,
  giveUpArchive,
  giveUpArchives,
  listGivenUp,
  type MovingRules,
  readMovable,
  storeArchive,
} from '../../db/billing/usage-archives.ts'
import { type Database, openDatabase } from '../../db/client.ts'
import { type ArchivePart, archiveKey, archiveText, movedBefore, type UsageRecord } from '../../domain/billing/usage-archive.ts'
import type { Env } from '../../env.ts'
import { sha256Hex } from '../../platform/crypto.ts'
import { gzip } from '../../platform/gzip.ts'
import { newResourceId } from '../../platform/ids.ts'
import { unpack } from './usage-archive.ts'

/** Intervals of one object: D1 deletes so many in 30 to 60 ms, and a bill of 250,000 reads 125 objects. */
const OBJECT_ROWS = 2_000
/** Objects that one run writes at most. */
const OBJECTS_PER_RUN = 5
/** Objects that one run deletes at most. */
const DELETED_PER_RUN = 500
/** Time after which an object that is not stored has lost its writer: longer than an alarm may run. */
const WRITING_MS = 30 * 60_000
/** Time that intervals of a part wait after an object that was not full: they ended late, or their resource was needed until now. */
const WAIT_MS = 30 * 24 * 3_600_000

const encoder = new TextEncoder()

/**
 * Moves intervals of closed months to the bucket (BIL-43), and deletes objects past the retention of intervals (BIL-42). Returns whether
 * more is left. It may end after any step and run again, also twice at once: an interval counts in exactly one place.
 */
export async function moveUsage(
  env: Pick<Env, 'DB' | 'USAGE'>,
  keptMs: number,
  nowMs: number,
  objectRows: number = OBJECT_ROWS,
): Promise<boolean> {
  const { USAGE: bucket } = env
  if (!bucket) return false
  const db = openDatabase(env.DB)
  const isMoreOld = await deleteOldObjects(db, bucket, keptMs, nowMs)
  for (let written = 0; written < OBJECTS_PER_RUN; written += 1) {
    const part = await findMovablePart(db, rulesAt(nowMs, objectRows))
    if (!part) return isMoreOld
    if (!(await movePart(db, bucket, part, objectRows, nowMs))) return isMoreOld
  }
  return true
}

function rulesAt(nowMs: number, fullRows: number): MovingRules {
  return { untilMs: movedBefore(nowMs), writingSinceMs: nowMs - WRITING_MS, waitSinceMs: nowMs - WAIT_MS, fullRows }
}

/** Writes and verifies an object, and only then makes it count. False: another run is writing, or the rows have changed. */
async function movePart(db: Database, bucket: R2Bucket, part: ArchivePart, most: number, nowMs: number): Promise<boolean> {
  const found = await readMovable(db, part, most)
  if (found.length === 0) return false
  const records = found.map(({ row: _row, ...record }): UsageRecord => record)
  const text = archiveText(records)
  const archive = await describe(part, records, text, nowMs)
  const key = archiveKey(archive)
  if (!(await beginArchive(db, archive, nowMs - WRITING_MS))) return false
  try {
    await bucket.put(key, await gzip(text), { customMetadata: { kind: part.kind, rows: String(archive.rows), sha256: archive.sha256 } })
    const written = await bucket.get(key)
    if (!written || !(await unpack(await written.arrayBuffer(), archive))) throw new Error(`${key} reads back differently`)
  } catch (error) {
    await giveUpArchive(db, archive.id, nowMs)
    throw error
  }
  const rows = found.map(({ row }) => row)
  if (await storeArchive(db, archive, rows, nowMs)) return true
  await giveUpArchive(db, archive.id, nowMs)
  return false
}

async function describe(part: ArchivePart, records: readonly UsageRecord[], text: string, nowMs: number): Promise<ArchiveRow> {
  return {
    ...part,
    id: newResourceId(),
    state: 'WRITING',
    rows: records.length,
    bytes: encoder.encode(text).byteLength,
    sha256: await sha256Hex(text),
    startedAtMs: records.reduce((first, { startedAtMs }) => Math.min(first, startedAtMs), Number.MAX_SAFE_INTEGER),
    endedAtMs: records.reduce((last, { endedAtMs }) => Math.max(last, endedAtMs), 0),
    changedAtMs: nowMs,
  }
}

/** The row is deleted after the object, so that a failure in between leaves no object without a row. */
async function deleteOldObjects(db: Database, bucket: R2Bucket, keptMs: number, nowMs: number): Promise<boolean> {
  await giveUpArchives(db, nowMs - WRITING_MS, nowMs - keptMs, DELETED_PER_RUN, nowMs)
  const old = await listGivenUp(db, DELETED_PER_RUN)
  if (old.length === 0) return false
  await bucket.delete(old.map((one) => archiveKey(one)))
  await deleteArchiveRows(
    db,
    old.map(({ id }) => id),
  )
  return old.length === DELETED_PER_RUN
}
