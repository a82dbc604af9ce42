/**
 * A user's newest write to the database (RATE-34). `bookmark`: a state of the database that contains this write and all earlier ones;
 * null: not known.
 */
export interface NewestWrite {
  /** When its request was counted. */
  readonly atMs: number
  readonly bookmark: string | null
}

/** A request that takes longer from its count to its answer announces its writes again, before it answers. */
export const LONG_WRITE_MS = 5_000
/** Time after which the writes of a request that was not announced again are done. Longer than `LONG_WRITE_MS`, as calls take time. */
const SETTLED_AFTER_MS = 15_000

/** The state after a request that may write was counted or announced. */
export function wroteAt(nowMs: number): NewestWrite {
  return { atMs: nowMs, bookmark: null }
}

/** Whether a bookmark that is taken now contains the newest write. Also false if the clock was set back since. */
export function isSettled({ atMs }: NewestWrite, nowMs: number): boolean {
  return nowMs - atMs >= SETTLED_AFTER_MS
}

/** Whether a request that was counted at `countedAtMs`, and is about to be answered, must announce its writes again. */
export function isLongWrite(countedAtMs: number, nowMs: number): boolean {
  return nowMs - countedAtMs > LONG_WRITE_MS || nowMs < countedAtMs
}
