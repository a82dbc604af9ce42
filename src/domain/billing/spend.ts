import type { Refusal } from '../../contract/problems.ts'

// What an account may spend, and what it says when that is not enough. Money in whole numbers: rates in billionths of a USD an hour, limits
// and amounts in millionths of a USD. Pure.

const NANOS_PER_MICRO = 1_000
const MICROS_PER_USD = 1_000_000
const NANOS_PER_USD = 1_000_000_000

/** What an account has said of its limits, and the operator of them; null: nothing. */
export interface SpendSettings {
  microsPerHour: number | null
  microsPerMonth: number | null
  ceilingMicrosPerHour: number | null
  ceilingMicrosPerMonth: number | null
  stopsPods: boolean
}

export const NO_SPEND_SETTINGS: SpendSettings = {
  microsPerHour: null,
  microsPerMonth: null,
  ceilingMicrosPerHour: null,
  ceilingMicrosPerMonth: null,
  stopsPods: false,
}

/** A limit in force, and the most that the account itself may set; null: no bound. */
export interface Limit<Amount> {
  limitMicros: Amount
  ceilingMicros: Amount
}

export interface SpendLimits {
  hour: Limit<number>
  month: Limit<number | null>
}

/** The limits in force (BIL-20, BIL-21): the account's own, as far as the operator lets it. */
export function spendLimitsOf(settings: SpendSettings, defaultMicrosPerHour: number): SpendLimits {
  const hourCeiling = settings.ceilingMicrosPerHour ?? defaultMicrosPerHour
  const monthCeiling = settings.ceilingMicrosPerMonth
  return {
    hour: { limitMicros: Math.min(settings.microsPerHour ?? hourCeiling, hourCeiling), ceilingMicros: hourCeiling },
    month: { limitMicros: least(settings.microsPerMonth, monthCeiling), ceilingMicros: monthCeiling },
  }
}

function least(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

/** What an account spends at the moment. */
export interface SpendUse {
  /** Of all that runs, or is about to. */
  nanosPerHour: number
  /** In this calendar month; null where no limit asks for it. */
  monthMicros: number | null
}

/** Why there is no room for something that costs so much an hour (BIL-22, BIL-23); null: there is. What costs nothing always fits. */
export function refuseSpend({ hour, month }: SpendLimits, use: SpendUse, needNanosPerHour: number): Refusal | null {
  if (needNanosPerHour <= 0) return null
  if (use.nanosPerHour + needNanosPerHour > hour.limitMicros * NANOS_PER_MICRO) {
    const inUse = `${usd(use.nanosPerHour / NANOS_PER_USD)} of ${usd(hour.limitMicros / MICROS_PER_USD)} USD per hour in use`
    return refusal(`${inUse}, this needs ${usd(needNanosPerHour / NANOS_PER_USD)}`, hour)
  }
  if (month.limitMicros === null || use.monthMicros === null || use.monthMicros < month.limitMicros) return null
  const spent = `${usd(use.monthMicros / MICROS_PER_USD)} of ${usd(month.limitMicros / MICROS_PER_USD)} USD of this month are spent`
  return refusal(`${spent}, this needs ${usd(needNanosPerHour / NANOS_PER_USD)} per hour`, month)
}

function refusal(figures: string, { limitMicros, ceilingMicros }: Limit<number | null>): Refusal {
  const raise = limitMicros === ceilingMicros ? 'ask the operator for more' : 'raise it with PATCH /v2/billing/limits'
  return { key: 'insufficientBalance', detail: `spend limit: ${figures}; stop something that runs, or ${raise}`, code: 'SPEND_LIMIT' }
}

/** Dollars and cents; of less than a cent, what it takes to see it. */
export function usd(amount: number): string {
  return amount > 0 && amount < 0.01 ? amount.toFixed(6) : amount.toFixed(2)
}

/** The share of a limit that is used, from 0; null without one. A limit of nothing is used up. */
export function shareOf(used: number, limit: number | null): number | null {
  if (limit === null) return null
  return limit === 0 ? 1 : Math.round((used / limit) * 10_000) / 10_000
}

/** A calendar month in UTC, half-open, milliseconds. */
export interface Month {
  /** `2026-11`. */
  name: string
  startMs: number
  endMs: number
}

export function monthOf(nowMs: number): Month {
  const now = new Date(nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { name: now.toISOString().slice(0, 7), startMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) }
}

/** What a month comes to if everything goes on as it is: spent so far, and the present rate until its end. */
export function estimateMicros(spentMicros: number, chargedNanosPerHour: number, { endMs }: Month, nowMs: number): number {
  const hours = Math.max(0, endMs - nowMs) / 3_600_000
  return spentMicros + Math.round((chargedNanosPerHour * hours) / NANOS_PER_MICRO)
}
