import { MISS_WINDOW_MS, type Misses } from './misses.ts'

/** Refusals that one source gets at once in a window; more come to who does not heed them. */
export const PROMPT_REFUSALS = 100
/** How long a further one waits: whoever asks again as soon as he is answered asks so much less often. */
export const REFUSAL_WAIT_MS = 250
/** Answers that wait at a time; the next one goes at once, as memory is dearer than a refusal. */
export const MAX_WAITING = 1_024

/** How long the last of so many refusals waits before it is sent (SEC-11). Pure: the caller has the clock and the counts. */
export function refusalWaitMs({ startMs, count }: Misses, nowMs: number, waiting: number): number {
  const isRecent = nowMs < startMs + MISS_WINDOW_MS
  return isRecent && count > PROMPT_REFUSALS && waiting < MAX_WAITING ? REFUSAL_WAIT_MS : 0
}
