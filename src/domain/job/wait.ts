const MIN_WAIT_MS = 1_000
const MAX_WAIT_MS = 300_000

/** How long a request is held, milliseconds (API-11): outside 1000..300000 it is clamped, unreadable means the default. */
export function readHoldMs(wait: string | null, defaultMs: number): number {
  if (wait === null || !/^-?\d{1,15}(\.\d+)?$/.test(wait)) return defaultMs
  return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, Math.floor(Number(wait))))
}
