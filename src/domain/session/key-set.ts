/** A key set that is younger is used without a question. */
export const KEYS_FRESH_MS = 10 * 60_000
/** One that is older is used no more: while the provider is down, sessions are good for that long (SES-4). */
export const KEYS_STALE_MS = 60 * 60_000
/** The least time from one attempt to fetch keys to the next, whoever asks for an unknown one (SES-3). */
export const KEYS_COOLDOWN_MS = 30_000

/** When an isolate last got the keys of a provider, and when it last tried to; null: never. */
export interface KeySetAge {
  fetchedAtMs: number | null
  triedAtMs: number | null
}

/** What to do about the keys that an isolate holds. */
export type KeysPlan = 'USE' | 'USE_AND_REFRESH' | 'FETCH' | 'UNAVAILABLE'

/** Decides whether held keys are used, fetched anew meanwhile or waited for (SES-4). */
export function planKeys({ fetchedAtMs, triedAtMs }: KeySetAge, nowMs: number): KeysPlan {
  const ageMs = fetchedAtMs === null ? Number.POSITIVE_INFINITY : nowMs - fetchedAtMs
  if (ageMs < KEYS_FRESH_MS) return 'USE'
  const mayTry = mayFetchKeys(triedAtMs, nowMs)
  if (ageMs < KEYS_STALE_MS) return mayTry ? 'USE_AND_REFRESH' : 'USE'
  return mayTry ? 'FETCH' : 'UNAVAILABLE'
}

/** Whether the cooldown since the last attempt is over. */
export function mayFetchKeys(triedAtMs: number | null, nowMs: number): boolean {
  return triedAtMs === null || nowMs - triedAtMs >= KEYS_COOLDOWN_MS
}
