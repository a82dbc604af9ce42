/** A key set of a lower age is used without a refresh. */
export const KEYS_FRESH_MS = 10 * 60_000
/** A key set of a higher age is not used: while the provider is down, sessions stay valid for this long (OIDC-4). */
export const KEYS_STALE_MS = 60 * 60_000
/** Minimum interval between two attempts to fetch keys, even for a token with an unknown key id (OIDC-3). */
export const KEYS_COOLDOWN_MS = 30_000

/** Times at which an isolate last fetched the keys of a provider, and last tried to; null: never. */
export interface KeySetAge {
  fetchedAtMs: number | null
  triedAtMs: number | null
}

/** Action on the keys that an isolate has cached. */
export type KeysPlan = 'USE' | 'USE_AND_REFRESH' | 'FETCH' | 'UNAVAILABLE'

/** Decides whether cached keys are used, refreshed in the background, or fetched first (OIDC-4). */
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
