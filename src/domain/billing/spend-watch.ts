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

/** A warning as its receiver reads it (BIL-28). */
export interface SpendWarning {
  type: 'spend.warning'
  timestamp: string
  data: {
    /** Which limit is near. */
    limit: 'HOUR' | 'MONTH'
    /** USD per hour, or USD of the month. */
    used: number
    bound: number
    share: number
    /** Of a month, such as `2026-11`. */
    month: string | null
  }
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
  if (isRateNear && !warned.warnedRate) {
    const figures = { used: use.nanosPerHour / NANOS_PER_USD, bound: limits.hour.limitMicros / MICROS_PER_USD }
    warnings.push({ type: 'spend.warning', timestamp, data: { limit: 'HOUR', ...figures, share: rateShare, month: null } })
  }
  if (isMonthNear && warned.warnedMonth !== month) {
    const figures = { used: (use.monthMicros ?? 0) / MICROS_PER_USD, bound: (limits.month.limitMicros ?? 0) / MICROS_PER_USD }
    warnings.push({ type: 'spend.warning', timestamp, data: { limit: 'MONTH', ...figures, share: monthShare, month } })
  }
  const warnedRate = isRateNear || (warned.warnedRate && use.nanosPerHour > 0 && rateShare >= CALM_SHARE)
  return { warnings, warned: { warnedRate, warnedMonth: isMonthNear ? month : warned.warnedMonth } }
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

/**
 * Pods to stop, in order, and why: the newest first, and never a locked one (BIL-27). Once a month is spent all of them; past the limit of an
 * hour no more than bring the rate back to it.
 */
export function decideStops(
  { hour, month }: SpendLimits,
  use: SpendUse,
  pods: readonly PaidPod[],
): { pods: PaidPod[]; reason: string } | null {
  const newestFirst = pods
    .filter(({ locked, savesNanosPerHour }) => !locked && savesNanosPerHour > 0)
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1))
  if (month.limitMicros !== null && use.monthMicros !== null && use.monthMicros >= month.limitMicros) {
    const [spent, limit] = [use.monthMicros, month.limitMicros].map((micros) => usd(micros / MICROS_PER_USD))
    return stops(newestFirst, `stopped by the spend limit: ${spent} of ${limit} USD of this month are spent`)
  }
  let above = use.nanosPerHour - hour.limitMicros * NANOS_PER_MICRO
  const enough = newestFirst.filter(({ savesNanosPerHour }) => {
    const isNeeded = above > 0
    if (isNeeded) above -= savesNanosPerHour
    return isNeeded
  })
  const [inUse, limit] = [use.nanosPerHour / NANOS_PER_USD, hour.limitMicros / MICROS_PER_USD].map(usd)
  return stops(enough, `stopped by the spend limit: ${inUse} of ${limit} USD per hour were in use`)
}

function stops(pods: PaidPod[], reason: string): { pods: PaidPod[]; reason: string } | null {
  return pods.length > 0 ? { pods, reason } : null
}
