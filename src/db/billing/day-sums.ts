import { and, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import { type Charge, cutInterval, inBucketOfDay, sumCharges } from '../../domain/billing/bill.ts'
import { daysOf } from '../../domain/billing/buckets.ts'
import type { Database } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { usageDays, usageTotals } from '../schema.ts'
import type { BillBounds, BillRefusal, BillScope } from './bill-scope.ts'
import type { BillSums } from './bill-sums.ts'
import { selectSince } from './usage.ts'

/** Daily sums that one statement reads: a few milliseconds. */
export const PAGE = 1_000

type DayRow = typeof usageDays.$inferSelect
type Days = Pick<BillScope, 'teamId' | 'kinds' | 'resourceId' | 'buckets'>

/**
 * Adds the charges of resources by bucket until a moment, from the daily sums of one or more kinds. Returns the refusal when a bound is
 * exceeded.
 */
export async function addDaySums(
  db: Database,
  scope: Days,
  bounds: BillBounds,
  moment: number,
  sums: BillSums,
): Promise<Extract<BillRefusal, { tooMuch: unknown }> | null> {
  // With buckets of one day, every daily sum becomes one record of the bill.
  const isDaily = scope.buckets.every((bucket) => daysOf(bucket).length === 1)
  let left = isDaily ? bounds.records : bounds.rows
  for (const kind of scope.kinds) {
    const counted = await countDays(db, scope, kind, left + 1)
    left -= counted
    if (left < 0) return { tooMuch: isDaily ? 'records' : 'rows' }
    for (let after: DayRow | null = null, isMore = counted > 0; isMore; ) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(db, scope, kind, after, moment)
      await sums.add(page.charges)
      if (sums.refusal) return sums.refusal
      isMore = page.last !== null
      after = page.last
    }
  }
  return null
}

/** The daily charges per kind instead of per resource: as many sums as days and kinds. */
export async function readDayTotals(db: Database, { teamId, kinds, buckets }: Omit<Days, 'resourceId'>, moment: number): Promise<Charge[]> {
  const [rows, later] = await db.batch([
    db
      .select()
      .from(usageTotals)
      .where(and(eq(usageTotals.teamId, teamId), inArray(usageTotals.kind, [...kinds]), ...within(usageTotals.dayMs, { buckets }))),
    selectSince(db, teamId, moment),
  ])
  const taken = partsOfDays(later, (part) => kinds.includes(part.kind)).map((part) => ({ ...part, resourceId: '' }))
  const all = [...rows.map((row) => toCharge({ ...row, resourceId: '' })), ...taken]
  return sumCharges(all.map((charge) => inBucketOfDay(charge, buckets)))
}

/** Charges of some resources by bucket until a moment, of all kinds. */
export async function readDaySumsOf(
  db: Database,
  scope: Pick<Days, 'teamId' | 'buckets'>,
  ids: readonly string[],
  moment: number,
): Promise<Charge[]> {
  const charges: Charge[] = []
  const days = scope.buckets.reduce((count, bucket) => count + daysOf(bucket).length, 0)
  const step = Math.max(1, Math.floor(PAGE / days))
  for (let i = 0; i < ids.length; i += step) {
    const some = ids.slice(i, i + step)
    const [rows, later] = await db.batch([
      db
        .select()
        .from(usageDays)
        .where(and(eq(usageDays.teamId, scope.teamId), isOneOf(usageDays.resourceId, some), ...within(usageDays.dayMs, scope))),
      selectSince(db, scope.teamId, moment),
    ])
    charges.push(...rows.map(toCharge), ...partsOfDays(later, ({ resourceId }) => some.includes(resourceId)))
  }
  return sumCharges(charges.map((charge) => inBucketOfDay(charge, scope.buckets)))
}

async function countDays(db: Database, scope: Days, kind: DayRow['kind'], most: number): Promise<number> {
  const some = db
    .select({ one: sql<number>`1`.as('one') })
    .from(usageDays)
    .where(ofKind(scope, kind))
    .limit(most)
    .as('some')
  // In a batch, whose result states the number of rows read.
  const [[row]] = await db.batch([db.select({ count: sql<number>`COUNT(*)`.as('count') }).from(some)])
  return row?.count ?? 0
}

// A page in the order of the key. Intervals that ended after the moment are subtracted from the sums that contain them.
async function readPage(db: Database, scope: Days, kind: DayRow['kind'], after: DayRow | null, moment: number) {
  const [rows, later] = await db.batch([
    db
      .select()
      .from(usageDays)
      .where(ofKind(scope, kind, after))
      .orderBy(usageDays.dayMs, usageDays.resourceId)
      .limit(PAGE),
    selectSince(db, scope.teamId, moment),
  ])
  const last = rows.length < PAGE ? null : (rows.at(-1) ?? null)
  const isHere = (part: Charge) =>
    part.kind === kind &&
    (scope.resourceId === null || part.resourceId === scope.resourceId) &&
    (after === null || isBehind(part, after)) &&
    (last === null || !isBehind(part, last))
  const charges = [...rows.map(toCharge), ...partsOfDays(later, isHere)]
  return { charges: charges.map((charge) => inBucketOfDay(charge, scope.buckets)), last }
}

function isBehind({ bucketStartMs, resourceId }: Charge, { dayMs, resourceId: id }: DayRow): boolean {
  return bucketStartMs > dayMs || (bucketStartMs === dayMs && resourceId > id)
}

/** The amounts that intervals have added to daily sums, negated. */
function partsOfDays(later: Awaited<ReturnType<typeof selectSince>>, isHere: (part: Charge) => boolean): Charge[] {
  const parts = later.flatMap((one) => cutInterval(one, daysOf({ startMs: one.startedAtMs, endMs: one.endedAtMs }), one.endedAtMs))
  return parts.filter(isHere).map((part) => ({
    ...part,
    gpuMicros: -part.gpuMicros,
    cpuMicros: -part.cpuMicros,
    diskMicros: -part.diskMicros,
    fastMicros: -part.fastMicros,
  }))
}

function toCharge({ kind, resourceId, dayMs, gpuMicros, cpuMicros, diskMicros, fastMicros }: DayRow | Omit<DayRow, 'teamId'>): Charge {
  return { kind, resourceId, bucketStartMs: dayMs, gpuMicros, cpuMicros, diskMicros, fastMicros }
}

function ofKind({ teamId, resourceId, buckets }: Days, kind: DayRow['kind'], after: DayRow | null = null): SQL | undefined {
  const [since, until] = within(usageDays.dayMs, { buckets })
  // Never both conditions: the planner would start at the first day again.
  const behind = after ? sql`(${usageDays.dayMs}, ${usageDays.resourceId}) > (${after.dayMs}, ${after.resourceId})` : since
  const own = and(eq(usageDays.teamId, teamId), behind, until)
  if (resourceId === null) return and(own, eq(usageDays.kind, kind))
  // The plus makes the planner use the index on the resource.
  return and(own, eq(usageDays.resourceId, resourceId), eq(sql`+${usageDays.kind}`, kind))
}

function within(day: typeof usageDays.dayMs | typeof usageTotals.dayMs, { buckets }: Pick<Days, 'buckets'>): [SQL, SQL] {
  return [gte(day, buckets[0]?.startMs ?? 0), lt(day, buckets.at(-1)?.endMs ?? 0)]
}
