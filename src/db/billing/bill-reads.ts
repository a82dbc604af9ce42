import { type SQL, sql } from 'drizzle-orm'
import type { VolumeType } from '../../contract/enums.ts'
import type { Charge, ChargedInterval } from '../../domain/billing/bill.ts'
import type { Bucket } from '../../domain/billing/buckets.ts'
import type { UsageKind } from '../../domain/billing/usage.ts'
import type { Database } from '../client.ts'
import { type OpenRows, selectOpen, toOpenIntervals } from './open-intervals.ts'

/** Whose bill, and what of it. */
export interface BillScope {
  teamId: string
  kinds: readonly UsageKind[]
  /** Only what this one was charged; null: everything. */
  resourceId: string | null
  /** Only what these were charged: a query for ids. */
  among?: SQL
  /** Sums are of each resource by itself, or of each kind. */
  perResource: boolean
  /** Oldest first, without gaps. */
  buckets: readonly Bucket[]
}

/** The most that one bill reads of each; more is refused (BIL-14). */
export interface BillBounds {
  sums: number
  intervals: number
}

export interface BillRows {
  /** Intervals that lie within one bucket, summed by kind, resource and bucket. */
  sums: Charge[]
  /** All others: those that cross a border and those that last. */
  intervals: ChargedInterval[]
  /** There is more than the bounds allow. */
  isTooMuch: boolean
}

/** What a bill is made of, read at one moment, so that an interval which ends meanwhile is neither missed nor found twice. */
export async function readBill(db: Database, scope: BillScope, bounds: BillBounds): Promise<BillRows> {
  const [sums, crossing, ...open] = await db.batch([
    selectSums(db, scope, bounds.sums + 1),
    selectClosed(db, scope, bounds.intervals + 1, 'crossing'),
    ...selectOpen(db, scope.teamId),
  ])
  const intervals = [...crossing, ...openOf(scope, open)]
  return { sums, intervals, isTooMuch: sums.length > bounds.sums || intervals.length > bounds.intervals }
}

/** Every interval of a bill by itself. */
export async function readIntervals(db: Database, scope: BillScope, most: number): Promise<Omit<BillRows, 'sums'>> {
  const [closed, ...open] = await db.batch([selectClosed(db, scope, most + 1, 'all'), ...selectOpen(db, scope.teamId)])
  const intervals = [...closed, ...openOf(scope, open)]
  return { intervals, isTooMuch: intervals.length > most }
}

function openOf({ kinds, resourceId }: BillScope, rows: OpenRows): ChargedInterval[] {
  return toOpenIntervals(rows).filter((open) => kinds.includes(open.kind) && (resourceId === null || open.resourceId === resourceId))
}

/** Sums of the intervals that begin and end in one bucket. */
export function selectSums(db: Database, scope: BillScope, limit: number) {
  return db
    .select({
      kind: sql<UsageKind>`u.kind`.as('charged_kind'),
      resourceId: (scope.perResource ? sql<string>`u.resource_id` : sql<string>`''`).as('charged_id'),
      bucketStartMs: sql<number>`b.start_ms`.as('bucket'),
      gpuMicros: sql<number>`SUM(gpu_micros)`,
      cpuMicros: sql<number>`SUM(cpu_micros)`,
      diskMicros: sql<number>`SUM(iif(volume_type IS 'HIGH_PERFORMANCE', 0, disk_micros))`,
      fastMicros: sql<number>`SUM(iif(volume_type IS 'HIGH_PERFORMANCE', disk_micros, 0))`,
    })
    .from(sql`${bucketsOf(scope)} b CROSS JOIN ${kindsOf(scope)} k CROSS JOIN usage u`)
    .where(sql`${endsIn(scope)} AND u.started_at >= b.start_ms`)
    .groupBy(sql`charged_kind, charged_id, bucket`)
    .limit(limit)
}

const INTERVAL = {
  kind: sql<UsageKind>`u.kind`,
  resourceId: sql<string>`u.resource_id`,
  workloadId: sql<string>`u.workload_id`,
  startedAtMs: sql<number>`u.started_at`,
  endedAtMs: sql<number>`u.ended_at`,
  gpuTypeId: sql<string | null>`u.gpu_type_id`,
  gpuCount: sql<number>`u.gpu_count`,
  vcpus: sql<number>`u.vcpus`,
  diskGb: sql<number>`u.disk_gb`,
  volumeType: sql<VolumeType | null>`u.volume_type`,
  gpuNanosPerHour: sql<number>`u.gpu_nanos_per_hour`,
  cpuNanosPerHour: sql<number>`u.cpu_nanos_per_hour`,
  diskNanosPerHour: sql<number>`u.disk_nanos_per_hour`,
}

/** Intervals that cross a border of these buckets, or all that touch them. */
export function selectClosed(db: Database, scope: BillScope, limit: number, which: 'crossing' | 'all') {
  const endMs = scope.buckets.at(-1)?.endMs ?? 0
  const own = sql`u.team_id = ${scope.teamId} AND u.kind = k.value ${ofResource(scope)}`
  const later = db
    .select(INTERVAL)
    .from(sql`${kindsOf(scope)} k CROSS JOIN usage u`)
    .where(sql`${own} AND u.ended_at > ${endMs} AND u.started_at < ${endMs}`)
  return db
    .select(INTERVAL)
    .from(sql`${bucketsOf(scope)} b CROSS JOIN ${kindsOf(scope)} k CROSS JOIN usage u`)
    .where(which === 'all' ? endsIn(scope) : sql`${endsIn(scope)} AND u.started_at < b.start_ms`)
    .unionAll(later)
    .limit(limit)
}

// Each bucket is one range of the index by end; what ended outside of the window is never looked at.
function endsIn(scope: BillScope): SQL {
  return sql`u.team_id = ${scope.teamId} AND u.kind = k.value AND u.ended_at > b.start_ms AND u.ended_at <= b.end_ms ${ofResource(scope)}`
}

function ofResource({ resourceId, among }: BillScope): SQL {
  if (among) return sql`AND u.resource_id IN (${among})`
  return resourceId === null ? sql`` : sql`AND u.resource_id = ${resourceId}`
}

function bucketsOf({ buckets }: BillScope): SQL {
  const borders = JSON.stringify(buckets.map(({ startMs, endMs }) => [startMs, endMs]))
  return sql`(SELECT json_extract(value, '$[0]') AS start_ms, json_extract(value, '$[1]') AS end_ms FROM json_each(${borders}))`
}

function kindsOf({ kinds }: BillScope): SQL {
  return sql`json_each(${JSON.stringify(kinds)})`
}
