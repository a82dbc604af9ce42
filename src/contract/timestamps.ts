/** Formats a time, given in milliseconds since 1970, as RFC 3339 in UTC with `Z` and seconds precision (GEN-2). */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** Formats a time like `formatTime`; null for null. */
export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : formatTime(ms)
}
