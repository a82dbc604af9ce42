import type { Refusal } from '../../contract/problems.ts'

// The spend limits of an account, and the refusal when they are not enough. Money in integers: rates in billionths of a USD per hour,
// limits and amounts in millionths of a USD. Pure.

const NANOS_PER_MICRO = 1_000
const MICROS_PER_USD = 1_000_000
const NANOS_PER_USD = 1_000_000_000

/** The limits that an account has set, and the ceilings that the operator has set for the person who pays for it (SHR-1); null: not set. */
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

/** A limit in force, and the highest one that the account itself may set; null: no bound. */
export interface Limit<Amount> {
  limitMicros: Amount
  ceilingMicros: Amount
}

/** The limits in force per hour and per month. */
export interface SpendLimits {
  hour: Limit<number>
  month: Limit<number | null>
}

/** The limits in force (BIL-20, BIL-21): the account's own, at most the operator's ceilings. */
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

/** Current spending. */
export interface SpendAmounts {
  /** The rate of everything that runs, or is about to. */
  nanosPerHour: number
  /** The amount of this calendar month; null where no limit needs it. */
  monthMicros: number | null
}

/** Current spending of one account. */
export interface SpendUse extends SpendAmounts {
  /** The spending of all accounts that share its ceiling, itself included (SHR-1); null: it shares with none. */
  together: SpendAmounts | null
}

/** Current spending and its upper bounds. */
export interface SpendBound {
  use: SpendAmounts
  hourMicros: number
  monthMicros: number | null
  /** Whether this is the ceiling that the accounts of one person share. */
  isShared: boolean
}

/**
 * All bounds that apply to an account: the shared ceiling limits what the accounts of one person spend together (SHR-1), the account's
 * limit what it spends itself. The shared one is first: no change of the account's own limits lifts it.
 */
export function boundsOf({ hour, month }: SpendLimits, use: SpendUse): SpendBound[] {
  const own = { use, hourMicros: hour.limitMicros, monthMicros: month.limitMicros, isShared: false }
  if (!use.together) return [own]
  return [{ use: use.together, hourMicros: hour.ceilingMicros, monthMicros: month.ceilingMicros, isShared: true }, own]
}

/** Whether the current rate plus `moreNanosPerHour` is above the hourly bound. */
export function isPastHour({ use, hourMicros }: SpendBound, moreNanosPerHour = 0): boolean {
  return use.nanosPerHour + moreNanosPerHour > hourMicros * NANOS_PER_MICRO
}

/** Whether the monthly bound is reached. */
export function isMonthSpent({ use, monthMicros }: SpendBound): boolean {
  return monthMicros !== null && use.monthMicros !== null && use.monthMicros >= monthMicros
}

const OF_PERSON =
  ' across all accounts of one user: the personal account of the creator of this organization, and the organizations without a plan'

/**
 * The refusal of a workload with this rate when a bound leaves no room for it (BIL-22, BIL-23, SHR-1); null: there is room. A rate of zero
 * always fits.
 */
export function refuseSpend(limits: SpendLimits, use: SpendUse, needNanosPerHour: number): Refusal | null {
  if (needNanosPerHour <= 0) return null
  const need = usd(needNanosPerHour / NANOS_PER_USD)
  for (const bound of boundsOf(limits, use)) {
    if (isPastHour(bound, needNanosPerHour)) return refusal(`${describeHour(bound)}, the request needs ${need}`, limits.hour, bound)
    if (isMonthSpent(bound)) return refusal(`${describeMonth(bound)}, the request needs ${need} per hour`, limits.month, bound)
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
  const room = isShared ? 'stop a workload in one of them' : 'stop a workload'
  const raise = isShared || limitMicros === ceilingMicros ? 'ask the operator for more' : 'raise it with PATCH /v2/billing/limits'
  return { key: 'insufficientBalance', detail: `spend limit: ${figures}; ${room}, or ${raise}`, code: 'SPEND_LIMIT' }
}

/** Formats USD with two decimals, or with six below one cent. */
export function usd(amount: number): string {
  return amount > 0 && amount < 0.01 ? amount.toFixed(6) : amount.toFixed(2)
}

/** The used share of a limit, from 0; null without a limit. A limit of zero is used up (1). */
export function shareOf(used: number, limit: number | null): number | null {
  if (limit === null) return null
  return limit === 0 ? 1 : Math.round((used / limit) * 10_000) / 10_000
}

/** The highest shares of all bounds, shared or own (BIL-25). */
export function nearestShares(bounds: readonly SpendBound[]): { hour: number; month: number | null } {
  const months = bounds.flatMap(({ use, monthMicros }) => shareOf(use.monthMicros ?? 0, monthMicros) ?? [])
  return {
    hour: Math.max(...bounds.map(({ use, hourMicros }) => shareOf(use.nanosPerHour, hourMicros * NANOS_PER_MICRO) ?? 0)),
    month: months.length > 0 ? Math.max(...months) : null,
  }
}

/** A calendar month in UTC, half-open, milliseconds. */
export interface Month {
  /** Such as `2026-11`. */
  name: string
  startMs: number
  endMs: number
}

/** The calendar month of an instant, in UTC; `endMs` is exclusive. */
export function monthOf(nowMs: number): Month {
  const now = new Date(nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { name: now.toISOString().slice(0, 7), startMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) }
}

/** The estimated amount of a month: spent so far, plus the current rate until its end. */
export function estimateMicros(spentMicros: number, chargedNanosPerHour: number, { endMs }: Month, nowMs: number): number {
  const hours = Math.max(0, endMs - nowMs) / 3_600_000
  return spentMicros + Math.round((chargedNanosPerHour * hours) / NANOS_PER_MICRO)
}
