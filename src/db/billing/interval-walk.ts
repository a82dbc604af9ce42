import { and, eq, gt, lt, lte, type SQL, sql } from 'drizzle-orm'
import type { ChargedInterval } from '../../domain/billing/bill.ts'
import type { UsageKind } from '../../domain/billing/usage.ts'
import { chargesOf, type UsageRecord } from '../../domain/billing/usage-archive.ts'
import type { Database } from '../client.ts'
import { usage } from '../schema.ts'
import type { BillBounds, BillRefusal, BillScope } from './bill-scope.ts'
import type { BillSums } from './bill-sums.ts'
import { INTERVAL, ROW } from './usage.ts'

// Walks intervals in the order of their ends, one piece of the index at a time, so that no statement takes long (BIL-41). Intervals that
// end during the walk have rows after the moment and are left out.

/** Intervals that one statement reads: a few milliseconds. */
const PIECE = 1_000
/** Index entries that one statement reads where it returns few of the rows. */
const PIECE_OF_INDEX = 5_000
const HOUR_MS = 3_600_000

type Walked = Pick<BillScope, 'teamId' | 'kinds' | 'resourceId' | 'buckets'>

/**
 * Adds the charges of resources until a moment: D1 sums intervals within one hour, the others are cut into parts here. `archived`: the
 * intervals of the period that are not in the database any more.
 */
export async function addHourSums(
  db: Database,
  archived: AsyncIterable<UsageRecord[]>,
  scope: BillScope,
  bounds: BillBounds,
  moment: number,
  sums: BillSums,
): Promise<Extract<BillRefusal, { tooMuch: unknown }> | null> {
  let left = bounds.rows
  for (const kind of scope.kinds) {
    left -= await countEnded(db, scope, kind, left + 1)
    if (left < 0) return { tooMuch: 'rows' }
    for await (const piece of pieces(db, scope, kind, PIECE, endOf(scope))) {
      const own = and(piece, lte(ROW, moment))
      const [within, crossing] = await db.batch([
        selectHours(db, scope, and(own, sql`${hourOf(usage.startedAtMs)} = ${lastHour}`)),
        db
          .select(INTERVAL)
          .from(usage)
          .where(and(own, sql`${hourOf(usage.startedAtMs)} < ${lastHour}`)),
      ])
      await sums.add(within)
      await sums.addIntervals(crossing)
      if (sums.refusal) return sums.refusal
    }
  }
  for (const kind of scope.kinds) {
    const later = await readLater(db, scope, kind, left + 1, moment)
    left -= later.length
    if (left < 0) return { tooMuch: 'rows' }
    await sums.addIntervals(later)
    if (sums.refusal) return sums.refusal
  }
  for await (const records of archived) {
    left -= records.length
    if (left < 0) return { tooMuch: 'rows' }
    await sums.add(chargesIn(records, scope))
    if (sums.refusal) return sums.refusal
  }
  return null
}

/** One at a time: an interval of a month has 720 parts of an hour. */
function* chargesIn(records: readonly UsageRecord[], { buckets }: Walked) {
  for (const record of records) yield* chargesOf(record, buckets)
}

/** At most `limit` intervals that overlap the period of the buckets. */
export async function readClosed(db: Database, scope: Walked, limit: number, moment: number): Promise<ChargedInterval[]> {
  const found: ChargedInterval[] = []
  for (const kind of scope.kinds) {
    for await (const piece of pieces(db, scope, kind, PIECE, endOf(scope))) {
      if (found.length >= limit) return found
      const rows = db
        .select(INTERVAL)
        .from(usage)
        .where(and(piece, lte(ROW, moment)))
      found.push(...(await rows.limit(limit - found.length)))
    }
    found.push(...(await readLater(db, scope, kind, limit - found.length, moment)))
  }
  return found
}

/** Intervals that began before the end of the buckets and ended after it. */
async function readLater(db: Database, scope: Walked, kind: UsageKind, limit: number, moment: number): Promise<ChargedInterval[]> {
  const found: ChargedInterval[] = []
  const later = { ...scope, buckets: [{ startMs: endOf(scope), endMs: Number.MAX_SAFE_INTEGER }] }
  for await (const piece of pieces(db, later, kind, PIECE_OF_INDEX, Number.MAX_SAFE_INTEGER)) {
    if (found.length >= limit) return found
    const rows = db
      .select(INTERVAL)
      .from(usage)
      .where(and(piece, lt(usage.startedAtMs, endOf(scope)), lte(ROW, moment)))
    found.push(...(await rows.limit(limit - found.length)))
  }
  return found
}

/**
 * Conditions that split the intervals that ended between the start of the buckets and `untilMs` into pieces of about `size` index entries.
 */
async function* pieces(db: Database, scope: Walked, kind: UsageKind, size: number, untilMs: number): AsyncGenerator<SQL | undefined> {
  for (let afterMs = scope.buckets[0]?.startMs ?? 0; afterMs < untilMs; ) {
    const rest = and(ofKind(scope, kind), gt(usage.endedAtMs, afterMs), lte(usage.endedAtMs, untilMs))
    const last = db.select({ atMs: usage.endedAtMs }).from(usage).where(rest).orderBy(usage.endedAtMs).limit(1).offset(size)
    const [[border]] = await db.batch([last])
    const toMs = border?.atMs ?? untilMs
    yield and(ofKind(scope, kind), gt(usage.endedAtMs, afterMs), lte(usage.endedAtMs, toMs))
    afterMs = toMs
  }
}

async function countEnded(db: Database, scope: Walked, kind: UsageKind, most: number): Promise<number> {
  const ended = and(ofKind(scope, kind), gt(usage.endedAtMs, scope.buckets[0]?.startMs ?? 0), lte(usage.endedAtMs, endOf(scope)))
  const some = db
    .select({ one: sql<number>`1`.as('one') })
    .from(usage)
    .where(ended)
    .limit(most)
    .as('some')
  // In a batch, whose result states the number of rows read.
  const [[row]] = await db.batch([db.select({ count: sql<number>`COUNT(*)`.as('count') }).from(some)])
  return row?.count ?? 0
}

const hourOf = (ms: typeof usage.startedAtMs) => sql`${ms} / ${sql.raw(String(HOUR_MS))}`
/** The hour that contains the last millisecond of an interval. */
const lastHour = sql`MAX(${usage.startedAtMs}, ${usage.endedAtMs} - 1) / ${sql.raw(String(HOUR_MS))}`

function selectHours(db: Database, { perResource }: BillScope, where: SQL | undefined) {
  const isFast = sql`${usage.volumeType} IS 'HIGH_PERFORMANCE'`
  const [resourceId, hour] = [perResource ? sql<string>`${usage.resourceId}`.as('of') : sql<string>`''`.as('of'), sql<number>`${lastHour}`]
  return db
    .select({
      kind: usage.kind,
      resourceId,
      bucketStartMs: sql<number>`${hour} * ${sql.raw(String(HOUR_MS))}`.as('bucket'),
      gpuMicros: sql<number>`SUM(${usage.gpuMicros})`.as('gpu'),
      cpuMicros: sql<number>`SUM(${usage.cpuMicros})`.as('cpu'),
      diskMicros: sql<number>`SUM(iif(${isFast}, 0, ${usage.diskMicros}))`.as('disk'),
      fastMicros: sql<number>`SUM(iif(${isFast}, ${usage.diskMicros}, 0))`.as('fast'),
    })
    .from(usage)
    .where(where)
    .groupBy(sql`of, bucket`)
}

function ofKind({ teamId, resourceId }: Walked, kind: UsageKind): SQL | undefined {
  // The plus makes the planner use the index on the resource, if one is given.
  if (resourceId !== null) return and(eq(usage.resourceId, resourceId), eq(sql`+${usage.teamId}`, teamId), eq(sql`+${usage.kind}`, kind))
  return and(eq(usage.teamId, teamId), eq(usage.kind, kind))
}

function endOf({ buckets }: Walked): number {
  return buckets.at(-1)?.endMs ?? 0
}
