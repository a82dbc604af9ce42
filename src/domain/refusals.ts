import { MISS_WINDOW_MS, windowStart } from './misses.ts'

/** Refusals of one source, counted in the windows of misses; what one window had weighs half in the next. Pure: the caller has the clock. */
export interface Refusals {
  startMs: number
  count: number
}

/** Refusals that one source gets at once in a window; more come to who does not heed them. */
export const PROMPT_REFUSALS = 100
/** How long a further one waits: whoever asks again as soon as he is answered asks so much less often. */
export const REFUSAL_WAIT_MS = 250
/** The longest that one waits: less than clients wait for an answer at all. */
export const MAX_REFUSAL_WAIT_MS = 2_000
/** Answers that wait at a time; the next one goes at once, as memory is dearer than a refusal. */
export const MAX_WAITING = 1_024

/** The count after one more. Who was held in the window before is not prompt again in this one, and is soon after he stops. */
export function countRefusal(refusals: Refusals | undefined, nowMs: number): Refusals {
  const startMs = windowStart(nowMs)
  if (refusals?.startMs === startMs) return { startMs, count: refusals.count + 1 }
  const isNext = refusals?.startMs === startMs - MISS_WINDOW_MS
  const carried = isNext && refusals.count > PROMPT_REFUSALS ? Math.floor(refusals.count / 2) : 0
  return { startMs, count: carried + 1 }
}

/** How long the last of so many refusals waits before it is sent: twice as long with each doubling of their number (SEC-11). */
export function refusalWaitMs({ count }: Refusals, waiting: number): number {
  if (count <= PROMPT_REFUSALS || waiting >= MAX_WAITING) return 0
  const doublings = Math.floor(Math.log2(count / PROMPT_REFUSALS))
  return Math.min(REFUSAL_WAIT_MS * 2 ** doublings, MAX_REFUSAL_WAIT_MS)
}
