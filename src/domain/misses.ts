/** Failed lookups, counted by source, so that guessing has a bounded cost for the database (KEY-10). Pure: the caller passes the time. */
export interface Misses {
  startMs: number
  count: number
  /** Upper bound of failed lookups in this window: lower for a source that used up the previous window. */
  bound: number
}

/** Misses are counted in windows of this length, aligned to UTC. */
export const MISS_WINDOW_MS = 10_000
/** Upper bound of failed lookups of one source in a window: far above honest mistakes, far below a noticeable load of the database. */
export const MAX_MISSES = 100
/** The same for a source that used up the previous window: honest mistakes do not last that long. */
export const MAX_MISSES_OF_A_FLOOD = 10

/** Whole seconds until a source may do another lookup; null: it may do one at once. */
export function secondsUntilLookup(misses: Misses | undefined, nowMs: number): number | null {
  const { startMs, count, bound } = current(misses, nowMs)
  return count < bound ? null : Math.ceil((startMs + MISS_WINDOW_MS - nowMs) / 1000)
}

/** The count after one more failed lookup; the counts of earlier windows expire. */
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

/** The start of the window that contains an instant. */
export function windowStart(nowMs: number): number {
  return Math.floor(nowMs / MISS_WINDOW_MS) * MISS_WINDOW_MS
}
