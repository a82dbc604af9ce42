import { MISS_WINDOW_MS, windowStart } from './misses.ts'

/**
 * Refusals of one source, counted in the windows of misses; half of a large count carries over to the next window. Pure: the caller passes
 * the time.
 */
export interface Refusals {
  startMs: number
  count: number
}

/** Refusals of one source in a window that are sent without delay. */
export const PROMPT_REFUSALS = 100
/** The shortest delay of a further refusal: a client that retries as soon as it gets an answer retries that much less often. */
export const REFUSAL_WAIT_MS = 250
/** The longest delay: shorter than the response timeout of clients. */
export const MAX_REFUSAL_WAIT_MS = 2_000
/**
 * Upper bound of refusals that are delayed at the same time; the next is sent at once, because memory is scarcer than a refusal is costly.
 */
export const MAX_WAITING = 1_024

/**
 * The count after one more refusal. A source that exceeded `PROMPT_REFUSALS` in the previous window starts with half of that count, so it
 * is delayed earlier if it goes on, and recovers soon after it stops.
 */
export function countRefusal(refusals: Refusals | undefined, nowMs: number): Refusals {
  const startMs = windowStart(nowMs)
  if (refusals?.startMs === startMs) return { startMs, count: refusals.count + 1 }
  const isNext = refusals?.startMs === startMs - MISS_WINDOW_MS
  const carried = isNext && refusals.count > PROMPT_REFUSALS ? Math.floor(refusals.count / 2) : 0
  return { startMs, count: carried + 1 }
}

/** The delay of the last of so many refusals, milliseconds: it doubles with each doubling of their number (RATE-30). */
export function refusalWaitMs({ count }: Refusals, waiting: number): number {
  if (count <= PROMPT_REFUSALS || waiting >= MAX_WAITING) return 0
  const doublings = Math.floor(Math.log2(count / PROMPT_REFUSALS))
  return Math.min(REFUSAL_WAIT_MS * 2 ** doublings, MAX_REFUSAL_WAIT_MS)
}
