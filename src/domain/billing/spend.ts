import type { Refusal } from '../../contract/problems.ts'

// What an account may spend, and what it says when that is not enough. Money in whole numbers: rates in billionths of a USD an hour, limits
// and amounts in millionths of a USD. Pure.

const NANOS_PER_MICRO = 1_000
const MICROS_PER_USD = 1_000_000
const NANOS_PER_USD = 1_000_000_000

/** What an account has said of its limits, and the operator of those of the person who pays for it (SHR-1); null: nothing. */
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

/** What is spent at the moment. */
export interface SpendAmounts {
  /** Of all that runs, or is about to. */
  nanosPerHour: number
  /** In this calendar month; null where no limit asks for it. */
  monthMicros: number | null
}

/** The same of one account. */
export interface SpendUse extends SpendAmounts {
  /** Of all accounts that share its ceiling, itself included (SHR-1); null: it shares with none. */
  together: SpendAmounts | null
}

/** An amount, and the most that it may be. */
export interface SpendBound {
  use: SpendAmounts
  hourMicros: number
  monthMicros: number | null
  /** The ceiling that the accounts of one person share. */
  isShared: boolean
}

/**
 * All bounds that an account is under: the shared ceiling is for what the accounts of one person spend together (SHR-1), the limit of the account
 * for its own. The shared one is first: no change of the account's own limits lifts it.
 */
export function boundsOf({ hour, month }: SpendLimits, use: SpendUse): SpendBound[] {
  const own = { use, hourMicros: hour.limitMicros, monthMicros: month.limitMicros, isShared: false }
  if (!use.together) return [own]
  return [{ use: use.together, hourMicros: hour.ceilingMicros, monthMicros: month.ceilingMicros, isShared: true }, own]
}

/** Whether the rate, and `moreNanosPerHour` with it, is past the bound of an hour. */
export function isPastHour({ use, hourMicros }: SpendBound, moreNanosPerHour = 0): boolean {
  return use.nanosPerHour + moreNanosPerHour > hourMicros * NANOS_PER_MICRO
}

/** Whether the bound of a month is reached. */
export function isMonthSpent({ use, monthMicros }: SpendBound): boolean {
  return monthMicros !== null && use.monthMicros !== null && use.monthMicros >= monthMicros
}

const OF_PERSON = ' by all accounts of one person together: the own account of who made this one, and the organizations without a plan'

/** Why there is no room for something that costs so much an hour (BIL-22, BIL-23, SHR-1); null: there is. What costs nothing always fits. */
export function refuseSpend(limits: SpendLimits, use: SpendUse, needNanosPerHour: number): Refusal | null {
  if (needNanosPerHour <= 0) return null
  const need = usd(needNanosPerHour / NANOS_PER_USD)
  for (const bound of boundsOf(limits, use)) {
    if (isPastHour(bound, needNanosPerHour)) return refusal(`${describeHour(bound)}, this needs ${need}`, limits.hour, bound)
    if (isMonthSpent(bound)) return refusal(`${describeMonth(bound)}, this needs ${need} per hour`, limits.month, bound)
  }
  return null
}

function describeHour({ use, hourMicros, isShared }: SpendBound): string {
  const figures = `${usd(use.nanosPerHour / NANOS_PER_USD)} of ${usd(hourMicros / MICROS_PER_USD)} USD per hour in use`
  return isShared ? figures + OF_PERSON : figures
}

function describeMonth({ use, monthMicros, isShared }: SpendBound): string {
  const figures = `${usd((use.monthMicros ?? 0) / MICROS_PER_USD)} of ${usd((monthMicros ?? 0) / MICROS_PER_USD)} USD of this month are spent`
  return isShared ? figures + OF_PERSON : figures
}

function refusal(figures: string, { limitMicros, ceilingMicros }: Limit<number | null>, { isShared }: SpendBound): Refusal {
  const room = isShared ? 'stop something that runs in one of them' : 'stop something that runs'
  const raise = isShared || limitMicros === ceilingMicros ? 'ask the operator for more' : 'raise it with PATCH /v2/billing/limits'
  return { key: 'insufficientBalance', detail: `spend limit: ${figures}; ${room}, or ${raise}`, code: 'SPEND_LIMIT' }
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

/** The shares of the nearest bounds, shared or own (BIL-25). */
export function nearestShares(bounds: readonly SpendBound[]): { hour: number; month: number | null } {
  const months = bounds.flatMap(({ use, monthMicros }) => shareOf(use.monthMicros ?? 0, monthMicros) ?? [])
  return {
    hour: Math.max(...bounds.map(({ use, hourMicros }) => shareOf(use.nanosPerHour, hourMicros * NANOS_PER_MICRO) ?? 0)),
    month: months.length > 0 ? Math.max(...months) : null,
  }
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
