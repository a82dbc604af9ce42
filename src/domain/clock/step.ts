/**
 * Steps of the wall clock. The runtime shows its programs no other clock, so a step is known by what cannot be: time that went back, or that
 * went on far beyond the moment at which the object would have been woken. Pure.
 */

/** A clock that went back by less is kept right, not set. */
const BACK_MS = 1_000
/** An alarm that is this late was not late by itself: the clock was set forward, or the plane stood still. */
export const LATE_MS = 2_000
/** Of two delays in a row with nothing in between only the first is forgiven, or a deadline would never come. */
const BETWEEN_MS = 1_000

export interface Sightings {
  /** The one before and this one, milliseconds since the epoch. */
  beforeMs: number
  nowMs: number
  /** When the object would have been woken; null: not at all, so that any silence is fine. */
  wakeAtMs: number | null
  /** When a step forward was last found; null: never. */
  steppedAtMs: number | null
}

/**
 * By how much the clock was set between two sightings, milliseconds; 0 when time has just passed (CLK-3, CLK-4). What moves by as much stays
 * as far away as it was. Between two sightings of a step no time has passed, so one is at most as wrong as the object was quiet.
 */
export function stepBetween({ beforeMs, nowMs, wakeAtMs, steppedAtMs }: Sightings): number {
  const passedMs = nowMs - beforeMs
  if (passedMs <= -BACK_MS) return passedMs
  const isLate = wakeAtMs !== null && nowMs - wakeAtMs >= LATE_MS && passedMs >= LATE_MS
  const isSecond = steppedAtMs !== null && Math.abs(beforeMs - steppedAtMs) < BETWEEN_MS
  return isLate && !isSecond ? passedMs : 0
}

/**
 * The same across a rest of the object, which has kept no sighting. `newestMs`: the newest instant that its rows have seen; null: none.
 * `isLate`: the plane was away, by PP-13.
 */
export function stepOverRest(newestMs: number | null, nowMs: number, isLate: boolean): number {
  if (newestMs === null) return 0
  const passedMs = nowMs - newestMs
  return isLate || passedMs <= -BACK_MS ? passedMs : 0
}

/** A retry that is further away than any can be was set before the clock went back, and is due (CLK-5). All milliseconds. */
export function believable(notBeforeMs: number, nowMs: number, longestMs: number): number {
  return notBeforeMs - nowMs > longestMs ? nowMs : notBeforeMs
}
