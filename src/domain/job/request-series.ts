import { formatTime } from '../../contract/timestamps.ts'

/** Jobs that ended or were requeued: totals since the endpoint was created, or their increase in a period. */
export interface RequestCounts {
  completed: number
  failed: number
  retried: number
}

/** The totals as they were before the first change in a minute; a minute without a change has no sample. */
export interface RequestSample extends RequestCounts {
  /** Minutes since the epoch. */
  minute: number
}

/** The calls of one step; `start` is RFC 3339. */
export interface RequestBucket extends RequestCounts {
  start: string
}

/** Time that one stored row covers. */
export const MINUTE_MS = 60_000
/** The length of each interval: a number of buckets of so many minutes. */
const INTERVALS = { m: { minutes: 1, buckets: 60 }, h: { minutes: 60, buckets: 24 }, d: { minutes: 1_440, buckets: 7 } } as const
export type SeriesInterval = keyof typeof INTERVALS
/** Samples older than this many minutes are in no series. */
export const SERIES_MINUTES = INTERVALS.d.minutes * INTERVALS.d.buckets

/**
 * HLT-12: counts per minute, hour or day (UTC), oldest first, empty ones included; the last bucket is the current one. The increase between
 * two samples belongs to the minute of the first, because every commit that changes the totals leaves a sample of those before.
 */
export function bucketRequests(
  samples: readonly RequestSample[],
  totals: RequestCounts,
  interval: SeriesInterval,
  nowMs: number,
): RequestBucket[] {
  const { minutes, buckets } = INTERVALS[interval]
  const first = Math.floor(nowMs / MINUTE_MS / minutes) - buckets + 1
  const counts = Array.from({ length: buckets }, () => ({ completed: 0, failed: 0, retried: 0 }))
  for (const [index, sample] of samples.entries()) {
    const bucket = counts[Math.floor(sample.minute / minutes) - first]
    if (!bucket) continue
    const next = samples[index + 1] ?? totals
    bucket.completed += next.completed - sample.completed
    bucket.failed += next.failed - sample.failed
    bucket.retried += next.retried - sample.retried
  }
  return counts.map((count, index) => ({ start: formatTime((first + index) * minutes * MINUTE_MS), ...count }))
}
