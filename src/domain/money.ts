/**
 * Money of bills: rates are whole billionths of a USD an hour, amounts whole millionths of a USD. Everything is an integer until an answer
 * shows it, so that sums are exact. Pure.
 */

/** Billionths of a USD, an hour, in a millionth of a USD each millisecond: 1 000 × 3 600 000. */
const NANO_HOURS_PER_MICRO = 3_600_000_000n
const NANOS_PER_USD = 1_000_000_000
const MICROS_PER_USD = 1_000_000

/** What one interval is charged for, in billionths of a USD an hour. */
export interface Rates {
  gpuNanosPerHour: number
  cpuNanosPerHour: number
  diskNanosPerHour: number
}

/** What was charged, in millionths of a USD. */
export interface Amounts {
  gpuMicros: number
  cpuMicros: number
  diskMicros: number
}

export const NO_RATES: Rates = { gpuNanosPerHour: 0, cpuNanosPerHour: 0, diskNanosPerHour: 0 }

/** The amount of so long at that rate, rounded down (BIL-6). */
export function amountMicros(nanosPerHour: number, ms: number): number {
  return Number((BigInt(nanosPerHour) * BigInt(Math.max(0, ms))) / NANO_HOURS_PER_MICRO)
}

/**
 * The amount of the part from `fromMs` to `toMs` of an interval that began at `startedAtMs`: what had come together by its end less what had
 * by its beginning. So the parts of an interval, cut anywhere, always sum to the whole (BIL-6).
 */
export function partMicros(nanosPerHour: number, startedAtMs: number, { fromMs, toMs }: { fromMs: number; toMs: number }): number {
  return amountMicros(nanosPerHour, toMs - startedAtMs) - amountMicros(nanosPerHour, fromMs - startedAtMs)
}

/** The same for everything that an interval is charged for. */
export function partAmounts(rates: Rates, startedAtMs: number, part: { fromMs: number; toMs: number }): Amounts {
  return {
    gpuMicros: partMicros(rates.gpuNanosPerHour, startedAtMs, part),
    cpuMicros: partMicros(rates.cpuNanosPerHour, startedAtMs, part),
    diskMicros: partMicros(rates.diskNanosPerHour, startedAtMs, part),
  }
}

/** A price as it is charged. */
export function nanosOfUsd(usd: number): number {
  return Math.round(usd * NANOS_PER_USD)
}

/** A rate as it is shown. */
export function usdOfNanos(nanos: number): number {
  return nanos / NANOS_PER_USD
}

/** An amount as it is shown. */
export function usdOfMicros(micros: number): number {
  return micros / MICROS_PER_USD
}

/** All of them together. */
export function totalNanos({ gpuNanosPerHour, cpuNanosPerHour, diskNanosPerHour }: Rates): number {
  return gpuNanosPerHour + cpuNanosPerHour + diskNanosPerHour
}
