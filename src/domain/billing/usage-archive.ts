import type { Amounts } from '../money.ts'
import { type Charge, type ChargedInterval, cutInterval } from './bill.ts'
import { type Bucket, bucketStart } from './buckets.ts'
import type { UsageKind } from './usage.ts'

/** Closed intervals of past months as objects of a bucket (BIL-43 to BIL-47). Pure. */

/** Time after the end of a month until its intervals are moved. */
const MOVED_AFTER_MS = 62 * 24 * 3_600_000
const HOUR_MS = 3_600_000

/**
 * WRITING: the object may exist, and the intervals are in the database. STORED: the object has the intervals, and the database does not.
 * REMOVING: the object is to be deleted, and has no intervals that count.
 */
export const ARCHIVE_STATES = ['WRITING', 'STORED', 'REMOVING'] as const

/** A closed interval with all that the database knows about it. */
export interface UsageRecord extends ChargedInterval, Amounts {
  sequence: number
  teamId: string
  endedAtMs: number
  cloud: string | null
}

/** Intervals that may be in one object: of a team, a kind, and the month in which they ended. */
export interface ArchivePart {
  teamId: string
  kind: UsageKind
  /** The start of the month. */
  monthMs: number
}

/** The object with intervals of a part. */
export interface ArchivedObject extends ArchivePart {
  id: string
  rows: number
  bytes: number
  sha256: string
}

/** The time before which intervals are moved when they have ended: a border of months. */
export function movedBefore(nowMs: number): number {
  return bucketStart(Math.max(0, nowMs - MOVED_AFTER_MS), 'month')
}

/** The part that an interval belongs to: the month is that of its end, as it has no row before. */
export function partOf({ teamId, kind, endedAtMs }: Pick<UsageRecord, 'teamId' | 'kind' | 'endedAtMs'>): ArchivePart {
  return { teamId, kind, monthMs: bucketStart(endedAtMs, 'month') }
}

/** The end of a part's month. */
export function monthEnd({ monthMs }: Pick<ArchivePart, 'monthMs'>): number {
  const month = new Date(monthMs)
  return Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)
}

/** The month as people write it: `2026-05`. */
export function monthName({ monthMs }: Pick<ArchivePart, 'monthMs'>): string {
  return new Date(monthMs).toISOString().slice(0, 7)
}

/** The key of an object. Keys of different attempts and teams differ. */
export function archiveKey(of: Pick<ArchivedObject, 'id' | 'teamId' | 'monthMs'>): string {
  return `usage/${monthName(of)}/${of.teamId}/${of.id}.ndjson.gz`
}

/** The text of an object: one interval per line. */
export function archiveText(records: readonly UsageRecord[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}

/**
 * The intervals of an object's text, which its checksum has proven to be what the plane wrote. Null if they are not those that the
 * database expects: an object of another team, kind or month is never read as this one.
 */
export function readArchiveText(text: string, of: Pick<ArchivedObject, 'teamId' | 'kind' | 'monthMs' | 'rows'>): UsageRecord[] | null {
  const records = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as UsageRecord]))
  const isOwn = (record: UsageRecord) => {
    const part = partOf(record)
    return part.teamId === of.teamId && part.kind === of.kind && part.monthMs === of.monthMs
  }
  return records.length === of.rows && records.every(isOwn) ? records : null
}

/**
 * The charges of an archived interval in buckets of hours or less. Within one hour its stored amounts count, as they do for intervals in the
 * database; otherwise it is cut.
 */
export function chargesOf(record: UsageRecord, buckets: readonly Bucket[]): Charge[] {
  const { startedAtMs, endedAtMs, kind, resourceId, gpuMicros, cpuMicros, diskMicros } = record
  const parts = cutInterval(record, buckets, endedAtMs)
  const lastHour = Math.floor(Math.max(startedAtMs, endedAtMs - 1) / HOUR_MS)
  const [only] = parts
  if (!only || Math.floor(startedAtMs / HOUR_MS) !== lastHour) return parts
  const isFast = record.volumeType === 'HIGH_PERFORMANCE'
  const disk = { diskMicros: isFast ? 0 : diskMicros, fastMicros: isFast ? diskMicros : 0 }
  return [{ kind, resourceId, bucketStartMs: only.bucketStartMs, gpuMicros, cpuMicros, ...disk }]
}
