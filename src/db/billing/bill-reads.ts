import type { Charge, ChargedInterval } from '../../domain/billing/bill.ts'
import { areOfDays, type Bucket } from '../../domain/billing/buckets.ts'
import type { Database } from '../client.ts'
import { overlapping, readWithArchives, type UsageArchive } from './archived-usage.ts'
import type { BillBounds, BillRefusal, BillScope } from './bill-scope.ts'
import { BillSums } from './bill-sums.ts'
import { addDaySums, readDayTotals } from './day-sums.ts'
import { addHourSums, readClosed } from './interval-walk.ts'
import { readOpen } from './open-intervals.ts'

/** The sources of bills: the database, and the bucket with moved intervals. */
export interface BillSources {
  db: Database
  archive: UsageArchive
}

/**
 * Reads a bill by bucket, kind and resource as of one moment, so that an interval which ends meanwhile is neither missed nor counted twice.
 * Short statements and short pieces of work, so that no other caller waits for a bill (BIL-41).
 */
export async function readBill(from: BillSources, scope: BillScope, bounds: BillBounds, nowMs: number): Promise<Charge[] | BillRefusal> {
  if (areOfDays(scope.buckets)) return readDayBill(from.db, scope, bounds, nowMs)
  const bill = await readWithArchives(from.db, scope, periodOf(scope), async (objects) => {
    const { moment, removedUntilMs, open } = await readMoment(from.db, scope)
    if (removedUntilMs > periodOf(scope).startMs) return { removedUntilMs }
    const sums = new BillSums(scope, bounds, nowMs)
    const refusal = await addHourSums(from.db, overlapping(from.archive, objects, scope, periodOf(scope)), scope, bounds, moment, sums)
    return refusal ?? finish(sums, open)
  })
  return bill ?? { tooMuch: 'rows' }
}

async function readDayBill(db: Database, scope: BillScope, bounds: BillBounds, nowMs: number): Promise<Charge[] | BillRefusal> {
  const { moment, open } = await readMoment(db, scope)
  const sums = new BillSums(scope, bounds, nowMs)
  if (scope.perResource) {
    const refusal = await addDaySums(db, scope, bounds, moment, sums)
    if (refusal) return refusal
  } else {
    await sums.add(await readDayTotals(db, scope, moment))
  }
  return finish(sums, open)
}

async function finish(sums: BillSums, open: readonly ChargedInterval[]): Promise<Charge[] | BillRefusal> {
  await sums.addIntervals(open)
  return sums.refusal ?? (await sums.sorted())
}

/** Reads every interval of a bill separately, by kind and in the order of their ends; open ones come first. */
export async function readIntervals(from: BillSources, scope: BillScope, most: number): Promise<ChargedInterval[] | BillRefusal> {
  const intervals = await readWithArchives(from.db, scope, periodOf(scope), async (objects) => {
    const { moment, removedUntilMs, open } = await readMoment(from.db, scope)
    if (removedUntilMs > periodOf(scope).startMs) return { removedUntilMs }
    const closed: ChargedInterval[] = await readClosed(from.db, scope, most + 1, moment)
    for await (const records of overlapping(from.archive, objects, scope, periodOf(scope))) {
      if (open.length + closed.length > most) break
      closed.push(...records)
    }
    if (open.length + closed.length > most) return { tooMuch: 'records' as const }
    return [...open, ...closed.toSorted(byKindAndEnd(scope.kinds))]
  })
  return intervals ?? { tooMuch: 'rows' }
}

function byKindAndEnd(kinds: BillScope['kinds']) {
  return (a: ChargedInterval, b: ChargedInterval) =>
    kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
    (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0) ||
    a.startedAtMs - b.startedAtMs ||
    (a.workloadId < b.workloadId ? -1 : 1)
}

async function readMoment(db: Database, { teamId, kinds, resourceId, buckets }: BillScope) {
  const { open, ...moment } = await readOpen(db, teamId)
  const endMs = buckets.at(-1)?.endMs ?? 0
  const isAsked = ({ kind, resourceId: id, startedAtMs }: ChargedInterval) =>
    kinds.includes(kind) && (resourceId === null || id === resourceId) && startedAtMs < endMs
  return { ...moment, open: open.filter(isAsked) }
}

function periodOf({ buckets }: BillScope): Bucket {
  return { startMs: buckets[0]?.startMs ?? 0, endMs: buckets.at(-1)?.endMs ?? 0 }
}
