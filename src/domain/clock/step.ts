/**
 * Detects steps of the wall clock. The runtime offers no other clock, so a step is found by what cannot happen otherwise: time went back,
 * or went far beyond the instant at which the object should have woken. Pure.
 */

/** A smaller change backwards is a correction of the clock, not a step. */
const BACK_MS = 1_000
/** An alarm this late did not fire late by itself: the clock was set forward, or the plane stood still. */
export const LATE_MS = 2_000
/** If a delay begins within this time after another one, only the first is compensated; otherwise a deadline would never come. */
const BETWEEN_MS = 1_000

/** Two observations of the clock, between which it may have stepped. */
export interface Sightings {
  /** The previous observation and this one, milliseconds since the epoch. */
  beforeMs: number
  nowMs: number
  /** When the object should have woken; null: it had no alarm, so that any silence is normal. */
  wakeAtMs: number | null
  /** When a step forward was last found; null: never. */
  steppedAtMs: number | null
}

/**
 * The size of the clock's step between two observations, milliseconds; 0 if time passed normally (CLK-3, CLK-4). A deadline moved by as
 * much keeps its distance. The result treats the whole time between the observations as step, so its error is at most the time without
 * observations.
 */
export function stepBetween({ beforeMs, nowMs, wakeAtMs, steppedAtMs }: Sightings): number {
  const passedMs = nowMs - beforeMs
  if (passedMs <= -BACK_MS) return passedMs
  const isLate = wakeAtMs !== null && nowMs - wakeAtMs >= LATE_MS && passedMs >= LATE_MS
  const isSecond = steppedAtMs !== null && Math.abs(beforeMs - steppedAtMs) < BETWEEN_MS
  return isLate && !isSecond ? passedMs : 0
}

/**
 * The size of the clock's step while the object was out of memory, where it stored no observation. `newestMs`: the newest instant in its
 * rows; null: none. `isLate`: the plane was down, by LSE-34.
 */
export function stepOverRest(newestMs: number | null, nowMs: number, isLate: boolean): number {
  if (newestMs === null) return 0
  const passedMs = nowMs - newestMs
  return isLate || passedMs <= -BACK_MS ? passedMs : 0
}

/**
 * The instant of a retry, or `nowMs` if it is further away than `longestMs`, the longest backoff: such a retry was set before the clock
 * went back, and is due (CLK-5). All milliseconds.
 */
export function believable(notBeforeMs: number, nowMs: number, longestMs: number): number {
  return notBeforeMs - nowMs > longestMs ? nowMs : notBeforeMs
}
