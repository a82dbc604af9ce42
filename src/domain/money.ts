/**
 * Money of bills: rates are integers in billionths of a USD per hour, amounts are integers in millionths of a USD. They stay integers until
 * a response shows them, so that sums are exact. Pure.
 */

/** Divides (billionths of a USD per hour) × milliseconds to get millionths of a USD: 1 000 × 3 600 000. */
const NANO_HOURS_PER_MICRO = 3_600_000_000n
const NANOS_PER_USD = 1_000_000_000
const MICROS_PER_USD = 1_000_000

/** The rates of one charged interval, in billionths of a USD per hour. */
export interface Rates {
  gpuNanosPerHour: number
  cpuNanosPerHour: number
  diskNanosPerHour: number
}

/** Charged amounts, in millionths of a USD. */
export interface Amounts {
  gpuMicros: number
  cpuMicros: number
  diskMicros: number
}

export const NO_RATES: Rates = { gpuNanosPerHour: 0, cpuNanosPerHour: 0, diskNanosPerHour: 0 }

/** The amount for `ms` milliseconds at a rate, in millionths of a USD, rounded down (BIL-6). */
export function amountMicros(nanosPerHour: number, ms: number): number {
  return Number((BigInt(nanosPerHour) * BigInt(Math.max(0, ms))) / NANO_HOURS_PER_MICRO)
}

/**
 * The amount for the part from `fromMs` to `toMs` of an interval that began at `startedAtMs`: the accumulated amount at the part's end
 * minus that at its beginning. So the parts of an interval always sum to the whole, however it is cut (BIL-6).
 */
export function partMicros(nanosPerHour: number, startedAtMs: number, { fromMs, toMs }: { fromMs: number; toMs: number }): number {
  return amountMicros(nanosPerHour, toMs - startedAtMs) - amountMicros(nanosPerHour, fromMs - startedAtMs)
}

/** `partMicros` for each rate of an interval. */
export function partAmounts(rates: Rates, startedAtMs: number, part: { fromMs: number; toMs: number }): Amounts {
  return {
    gpuMicros: partMicros(rates.gpuNanosPerHour, startedAtMs, part),
    cpuMicros: partMicros(rates.cpuNanosPerHour, startedAtMs, part),
    diskMicros: partMicros(rates.diskNanosPerHour, startedAtMs, part),
  }
}

/** Converts USD to billionths of a USD, rounded. */
export function nanosOfUsd(usd: number): number {
  return Math.round(usd * NANOS_PER_USD)
}

/** Converts billionths of a USD to USD. */
export function usdOfNanos(nanos: number): number {
  return nanos / NANOS_PER_USD
}

/** Converts millionths of a USD to USD. */
export function usdOfMicros(micros: number): number {
  return micros / MICROS_PER_USD
}

/** The sum of all rates, in billionths of a USD per hour. */
export function totalNanos({ gpuNanosPerHour, cpuNanosPerHour, diskNanosPerHour }: Rates): number {
  return gpuNanosPerHour + cpuNanosPerHour + diskNanosPerHour
}
