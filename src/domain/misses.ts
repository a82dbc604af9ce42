/** Look-ups that found nothing, counted by who asked, so that guessing costs the database only so much (PP-200). Pure: the caller has the clock. */
export interface Misses {
  startMs: number
  count: number
}

/** Misses are counted in windows of this length, aligned to UTC. */
export const MISS_WINDOW_MS = 10_000
/** Look-ups without a find that one source has in a window: far above mistakes, far below what a database feels. */
export const MAX_MISSES = 100

/** Whole seconds until a source may look something up again; null: it may now. */
export function secondsUntilLookup(misses: Misses | undefined, nowMs: number): number | null {
  const startMs = windowStart(nowMs)
  if (misses?.startMs !== startMs || misses.count < MAX_MISSES) return null
  return Math.ceil((startMs + MISS_WINDOW_MS - nowMs) / 1000)
}

/** The count after one more; what an earlier window counted is over. */
export function countMiss(misses: Misses | undefined, nowMs: number): Misses {
  const startMs = windowStart(nowMs)
  return { startMs, count: misses?.startMs === startMs ? misses.count + 1 : 1 }
}

function windowStart(nowMs: number): number {
  return Math.floor(nowMs / MISS_WINDOW_MS) * MISS_WINDOW_MS
}
