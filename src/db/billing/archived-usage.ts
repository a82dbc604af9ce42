import { Problem } from '../../contract/problems.ts'
import type { Bucket } from '../../domain/billing/buckets.ts'
import type { UsageKind } from '../../domain/billing/usage.ts'
import type { ArchivedObject, UsageRecord } from '../../domain/billing/usage-archive.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import type { Database } from '../client.ts'
import { listArchives } from './usage-archives.ts'

// Intervals that have been moved to the bucket (BIL-43), for reads that need each of them.

/** Reads objects of the bucket. Throws an error that names month and key when an object is missing or not as it was written. */
export interface UsageArchive {
  read(object: ArchivedObject): Promise<UsageRecord[]>
}

/** The account and the part of its intervals that are requested. */
export interface ArchivedScope {
  teamId: string
  kinds: readonly UsageKind[]
  /** Only intervals of this resource; null: all. */
  resourceId: string | null
}

/** Objects that one answer reads at most: a request may make only so many calls to other services. */
export const MAX_OBJECTS = 400
/** Objects in memory at a time. */
const AT_ONCE = 4
/** Attempts to read while intervals are being moved. */
const MAX_TRIES = 4

/**
 * Runs a read of intervals in the database, together with the objects that have the others. If intervals of that period move meanwhile,
 * the read may have missed them or counted them twice, and runs again. Throws 503 when that goes on. Null: there are more objects than one answer reads.
 */
export async function readWithArchives<Found>(
  db: Database,
  scope: ArchivedScope,
  period: Bucket,
  read: (objects: readonly ArchivedObject[]) => Promise<Found>,
): Promise<Found | null> {
  const list = () => listArchives(db, scope, period, MAX_OBJECTS + 1)
  let objects = await list()
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (objects.length > MAX_OBJECTS) return null
    const [result] = await Promise.allSettled([read(objects)])
    const before = objects
    objects = await list()
    if (!areSame(before, objects)) continue
    if (result.status === 'rejected') throw result.reason
    return result.value
  }
  throw new Problem('unavailable', { detail: 'intervals of this period are being moved; try again', headers: { 'Retry-After': '10' } })
}

/** The intervals of objects that overlap a period, of one object at a time. */
export async function* overlapping(
  archive: UsageArchive,
  objects: readonly ArchivedObject[],
  { resourceId }: Pick<ArchivedScope, 'resourceId'>,
  { startMs, endMs }: Bucket,
): AsyncGenerator<UsageRecord[]> {
  const isAsked = (record: UsageRecord) =>
    record.endedAtMs > startMs && record.startedAtMs < endMs && (resourceId === null || record.resourceId === resourceId)
  for (let at = 0; at < objects.length; at += AT_ONCE) {
    const some = await mapAtOnce(objects.slice(at, at + AT_ONCE), (object) => archive.read(object))
    for (const records of some) yield records.filter(isAsked)
  }
}

function areSame(before: readonly ArchivedObject[], after: readonly ArchivedObject[]): boolean {
  return before.length === after.length && before.every(({ id }, at) => after[at]?.id === id)
}
