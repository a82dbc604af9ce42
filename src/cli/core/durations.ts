const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const FORM = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

/** Milliseconds of a duration such as `90s`, `10m`, `1.5h` or `2d`. Undefined for other text, also for a number without a unit. */
export function parseDurationMs(text: string): number | undefined {
  const match = FORM.exec(text.trim())
  if (match?.[1] === undefined) return undefined
  return Math.round(Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 0))
}

/** RFC 3339 time that `--since` or `--until` names: a duration before `nowMs`, or a time. Undefined for other text. */
export function parseInstant(text: string, nowMs: number): string | undefined {
  const agoMs = parseDurationMs(text)
  if (agoMs !== undefined) return new Date(nowMs - agoMs).toISOString()
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

const STEPS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const

/** Duration in its largest unit, such as `3m` or `2d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1_000)
  const step = STEPS.find(([, length]) => seconds >= length)
  return step === undefined ? `${seconds}s` : `${Math.floor(seconds / step[1])}${step[0]}`
}

/** Time relative to `nowMs`: `3m ago`, or `in 2h`. */
export function formatRelative(time: string, nowMs: number): string {
  const at = Date.parse(time)
  if (Number.isNaN(at)) return time
  return at > nowMs + 1_000 ? `in ${formatDuration(at - nowMs)}` : `${formatDuration(nowMs - at)} ago`
}
