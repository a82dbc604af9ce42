import type { BucketSize } from '../../contract/billing/query.ts'
import { type Refusal, refused } from '../../contract/problems.ts'

/** The buckets that a bill is divided into (BIL-2). Borders in UTC; weeks begin on Monday. Times in milliseconds. Pure. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
/** The first Monday of 1970, 5 January. */
const FIRST_MONDAY_MS = 4 * DAY_MS
const DEFAULT_DAYS = 30
/** Upper bound of buckets in one response: more would be unreadable and slow to compute (BIL-14). */
export const MAX_BUCKETS = 10_000
/** Latest accepted end: every bucket then ends in a year of four digits. */
const LAST_MS = Date.UTC(9999, 0, 1)

/** The time window as a request states it. */
export interface AskedWindow {
  startTime?: string | undefined
  endTime?: string | undefined
  bucketSize: BucketSize
  lastN?: number | undefined
}

/** A half-open interval. */
export interface Bucket {
  startMs: number
  endMs: number
}

/** Buckets of a valid request, or the refusal. */
export type WindowResult = { ok: true; buckets: Bucket[] } | { ok: false; problem: Refusal }

/** The buckets that a request asks for, oldest first and without gaps, at least one (BIL-2), or the refusal. */
export function resolveBuckets(asked: AskedWindow, nowMs: number): WindowResult {
  const { bucketSize: size, lastN } = asked
  if (lastN === undefined) return bucketsBetween(asked, nowMs)
  if (asked.startTime !== undefined || asked.endTime !== undefined) return refused('lastN excludes startTime and endTime')
  if (lastN > MAX_BUCKETS) return tooMany(size)
  const buckets: Bucket[] = []
  for (let endMs = nextBorder(nowMs, size); buckets.length < lastN; endMs = bucketStart(endMs - 1, size)) {
    if (endMs <= 0) return refused(`lastN ${lastN} reaches back to before 1970`)
    buckets.push({ startMs: bucketStart(endMs - 1, size), endMs })
  }
  return { ok: true, buckets: buckets.toReversed() }
}

function bucketsBetween({ startTime, endTime, bucketSize: size }: AskedWindow, nowMs: number): WindowResult {
  const endMs = endTime === undefined ? nowMs : Date.parse(endTime)
  const startMs = startTime === undefined ? endMs - DEFAULT_DAYS * DAY_MS : Date.parse(startTime)
  if (startMs >= endMs) return refused(`startTime must be before endTime${endTime === undefined ? ', which is now' : ''}`)
  if (startMs < 0 || endMs > LAST_MS) return refused('startTime and endTime must be within the years 1970 to 9998')
  const buckets: Bucket[] = []
  for (let at = bucketStart(startMs, size); at < endMs; at = nextBorder(at, size)) {
    if (buckets.length === MAX_BUCKETS) return tooMany(size)
    buckets.push({ startMs: at, endMs: nextBorder(at, size) })
  }
  return { ok: true, buckets }
}

/** Whether buckets consist of whole days, so that the daily sums are enough to fill them (BIL-40). */
export function areOfDays(buckets: readonly Bucket[]): boolean {
  return buckets.every(({ startMs, endMs }) => startMs % DAY_MS === 0 && endMs % DAY_MS === 0)
}

/** The UTC days that an interval overlaps, oldest first. */
export function daysOf({ startMs, endMs }: Bucket): Bucket[] {
  const firstMs = bucketStart(startMs, 'day')
  const count = Math.max(0, Math.ceil((endMs - firstMs) / DAY_MS))
  return Array.from({ length: count }, (_, i) => ({ startMs: firstMs + i * DAY_MS, endMs: firstMs + (i + 1) * DAY_MS }))
}

/** The border at or before an instant. */
export function bucketStart(ms: number, size: BucketSize): number {
  const date = new Date(ms)
  switch (size) {
    case 'hour':
      return Math.floor(ms / HOUR_MS) * HOUR_MS
    case 'day':
      return Math.floor(ms / DAY_MS) * DAY_MS
    case 'week':
      return Math.floor((ms - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS + FIRST_MONDAY_MS
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
    case 'year':
      return Date.UTC(date.getUTCFullYear(), 0)
    default:
      return size satisfies never
  }
}

/** The first border after an instant. */
function nextBorder(ms: number, size: BucketSize): number {
  const startMs = bucketStart(ms, size)
  const date = new Date(startMs)
  switch (size) {
    case 'hour':
      return startMs + HOUR_MS
    case 'day':
      return startMs + DAY_MS
    case 'week':
      return startMs + WEEK_MS
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
    case 'year':
      return Date.UTC(date.getUTCFullYear() + 1, 0)
    default:
      return size satisfies never
  }
}

function tooMany(size: BucketSize): WindowResult {
  return refused(`more than ${MAX_BUCKETS} buckets of one ${size}; request a shorter time range or a larger bucketSize`)
}
