/** Choices of the forms, hours. */
export const HOURS = [1, 2, 4, 8, 24, 72, 168] as const

/** Choices of the forms for `idleStop`, minutes. */
export const IDLE_MINUTES = [10, 30, 60, 120, 240] as const

export const HOUR_MS = 3_600_000

/** RFC 3339 time that is `hours` after `nowMs`, for the API. */
export function deadlineAt(hours: string, nowMs: number): string {
  return new Date(nowMs + Number(hours) * HOUR_MS).toISOString().replace(/\.\d+Z$/, 'Z')
}
