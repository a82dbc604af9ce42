/** Formats of figures. All pure; times are milliseconds or RFC 3339. */

const DIGITS = 4

/** A rate such as `$0.34/h`. */
export function perHour(usd: number): string {
  return `${money(usd)}/h`
}

/** Amounts below one dollar keep four digits, so that they are not shown as zero. */
export function money(usd: number): string {
  const digits = usd !== 0 && Math.abs(usd) < 1 ? DIGITS : 2
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(usd)
}

const STEPS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** Duration in its two largest units, such as `3 h 20 min`; below ten seconds with tenths. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`
  const first = STEPS.findIndex(([, size]) => ms >= size)
  const [unit, size] = STEPS[first] ?? ['s', 1_000]
  const whole = Math.floor(ms / size)
  const next = STEPS[first + 1]
  const rest = next === undefined ? 0 : Math.floor((ms - whole * size) / next[1])
  return rest === 0 || next === undefined ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${next[0]}`
}

/** Age in whole units: `3 h ago`, or `in 20 min`. */
export function ago(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at)
  const text = duration(Math.floor(Math.abs(ms) / 1_000) * 1_000)
    .split(' ')
    .slice(0, 2)
    .join(' ')
  if (Math.abs(ms) < 1_000) return 'now'
  return ms >= 0 ? `${text} ago` : `in ${text}`
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

/** Returns a number of bytes in its largest decimal unit, such as `1.5 GB`. */
export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3))
  const scaled = value / 1_000 ** power
  return `${scaled >= 100 || power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${UNITS[power]}`
}

/** Number with a singular or plural noun. */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${new Intl.NumberFormat('en-US').format(amount)} ${amount === 1 ? one : many}`
}
