import { formatTime } from '../../contract/timestamps.ts'
import { type SpendLimits, type SpendUse, shareOf, usd } from './spend.ts'

// What a look at an account's spending has to do: whom to warn, and which pods to stop. Pure.

/** The share of a limit from which on its account is warned. */
const WARN_SHARE = 0.8
/** Below this share the rate may be warned of again: one that goes up and down at the border warns once. */
const CALM_SHARE = 0.7
const NANOS_PER_MICRO = 1_000
const NANOS_PER_USD = 1_000_000_000
const MICROS_PER_USD = 1_000_000

/** What is remembered of warnings. */
export interface Warned {
  /** The month that was warned of, such as `2026-11`. */
  warnedMonth: string | null
  warnedRate: boolean
}

/** How near a limit is, or how far past. */
export interface LimitFigures {
  limit: 'HOUR' | 'MONTH'
  /** USD per hour, or USD of the month. */
  used: number
  bound: number
  share: number
  /** Of a month, such as `2026-11`. */
  month: string | null
}

/** A warning as its receiver reads it (BIL-28). */
export interface SpendWarning {
  type: 'spend.warning'
  timestamp: string
  data: LimitFigures
}

/** What its receiver reads when a limit stops pods (BIL-29). */
export interface SpendStop {
  type: 'spend.stop'
  timestamp: string
  data: LimitFigures & { podIds: string[] }
}

export interface WatchedSpend {
  limits: SpendLimits
  use: SpendUse
  warned: Warned
  /** Name of the present month. */
  month: string
}

/** The warnings that are due, once a month and once each time that the rate comes near, and what is to be remembered. */
export function decideWarnings({ limits, use, warned, month }: WatchedSpend, nowMs: number): { warnings: SpendWarning[]; warned: Warned } {
  const timestamp = formatTime(nowMs)
  const rateShare = shareOf(use.nanosPerHour, limits.hour.limitMicros * NANOS_PER_MICRO) ?? 0
  const monthShare = shareOf(use.monthMicros ?? 0, limits.month.limitMicros) ?? 0
  const isRateNear = use.nanosPerHour > 0 && rateShare >= WARN_SHARE
  const isMonthNear = limits.month.limitMicros !== null && monthShare >= WARN_SHARE
  const warnings: SpendWarning[] = []
  if (isRateNear && !warned.warnedRate) warnings.push({ type: 'spend.warning', timestamp, data: hourFigures(limits, use) })
  if (isMonthNear && warned.warnedMonth !== month) {
    warnings.push({ type: 'spend.warning', timestamp, data: monthFigures(limits, use, month) })
  }
  const warnedRate = isRateNear || (warned.warnedRate && use.nanosPerHour > 0 && rateShare >= CALM_SHARE)
  return { warnings, warned: { warnedRate, warnedMonth: isMonthNear ? month : warned.warnedMonth } }
}

function hourFigures({ hour }: SpendLimits, { nanosPerHour }: SpendUse): LimitFigures {
  const share = shareOf(nanosPerHour, hour.limitMicros * NANOS_PER_MICRO) ?? 0
  return { limit: 'HOUR', used: nanosPerHour / NANOS_PER_USD, bound: hour.limitMicros / MICROS_PER_USD, share, month: null }
}

function monthFigures(limits: SpendLimits, { monthMicros }: SpendUse, month: string): LimitFigures {
  const [used, bound] = [monthMicros ?? 0, limits.month.limitMicros ?? 0]
  return { limit: 'MONTH', used: used / MICROS_PER_USD, bound: bound / MICROS_PER_USD, share: shareOf(used, bound) ?? 0, month }
}

/** A pod that runs and costs something. */
export interface PaidPod {
  id: string
  hostId: string
  createdAtMs: number
  locked: boolean
  /** What stopping it saves an hour, in billionths of a USD. */
  savesNanosPerHour: number
}

/** Pods to stop, in order, and why. */
export interface SpendStops {
  pods: PaidPod[]
  reason: string
  figures: LimitFigures
}

/**
 * Pods to stop, in order: the newest first, and never a locked one (BIL-27). Once a month is spent all of them; past the limit of an hour no
 * more than bring the rate back to it. Null: none. `month`: name of the present one.
 */
export function decideStops(limits: SpendLimits, use: SpendUse, pods: readonly PaidPod[], month: string): SpendStops | null {
  const newestFirst = pods
    .filter(({ locked, savesNanosPerHour }) => !locked && savesNanosPerHour > 0)
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1))
  const isMonthSpent = limits.month.limitMicros !== null && use.monthMicros !== null && use.monthMicros >= limits.month.limitMicros
  const stopped = isMonthSpent ? newestFirst : enoughOf(newestFirst, use.nanosPerHour - limits.hour.limitMicros * NANOS_PER_MICRO)
  if (stopped.length === 0) return null
  const figures = isMonthSpent ? monthFigures(limits, use, month) : hourFigures(limits, use)
  const [used, bound] = [usd(figures.used), usd(figures.bound)]
  const what = isMonthSpent ? `${used} of ${bound} USD of this month are spent` : `${used} of ${bound} USD per hour were in use`
  return { pods: stopped, reason: `stopped by the spend limit: ${what}`, figures }
}

/** The first of some pods that save so much together. */
function enoughOf(pods: readonly PaidPod[], nanosPerHour: number): PaidPod[] {
  let above = nanosPerHour
  return pods.filter(({ savesNanosPerHour }) => {
    const isNeeded = above > 0
    if (isNeeded) above -= savesNanosPerHour
    return isNeeded
  })
}
