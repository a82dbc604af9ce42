/** Look-ups that found nothing, counted by who asked, so that guessing costs the database only so much (PP-200). Pure: the caller has the clock. */
export interface Misses {
  startMs: number
  count: number
  /** How many this window has: few for a source that used up the one before. */
  bound: number
}

/** Misses are counted in windows of this length, aligned to UTC. */
export const MISS_WINDOW_MS = 10_000
/** Look-ups without a find that one source has in a window: far above mistakes, far below what a database feels. */
export const MAX_MISSES = 100
/** The same of a source that goes on after a window in which it had all: nobody's mistakes last so long. */
export const MAX_MISSES_OF_A_FLOOD = 10

/** Whole seconds until a source may look something up again; null: it may now. */
export function secondsUntilLookup(misses: Misses | undefined, nowMs: number): number | null {
  const { startMs, count, bound } = current(misses, nowMs)
  return count < bound ? null : Math.ceil((startMs + MISS_WINDOW_MS - nowMs) / 1000)
}

/** The count after one more; what an earlier window counted is over. */
export function countMiss(misses: Misses | undefined, nowMs: number): Misses {
  const now = current(misses, nowMs)
  return { ...now, count: now.count + 1 }
}

function current(misses: Misses | undefined, nowMs: number): Misses {
  const startMs = windowStart(nowMs)
  if (misses?.startMs === startMs) return misses
  const isFlood = misses?.startMs === startMs - MISS_WINDOW_MS && misses.count >= misses.bound
  return { startMs, count: 0, bound: isFlood ? MAX_MISSES_OF_A_FLOOD : MAX_MISSES }
}

/** When the window of an instant began. */
export function windowStart(nowMs: number): number {
  return Math.floor(nowMs / MISS_WINDOW_MS) * MISS_WINDOW_MS
}
