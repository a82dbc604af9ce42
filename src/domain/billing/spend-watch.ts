import { formatTime } from '../../contract/timestamps.ts'
import { boundsOf, isMonthSpent, type SpendBound, type SpendLimits, type SpendUse, shareOf, usd } from './spend.ts'

// Decides on the result of a check of an account's spending: which warnings to send, and which pods to stop. Pure.

/** The share of a limit from which its account is warned. */
const WARN_SHARE = 0.8
/** A warning about the rate may be repeated after the share was below this: a rate that swings around `WARN_SHARE` warns once. */
const CALM_SHARE = 0.7
const NANOS_PER_MICRO = 1_000
const NANOS_PER_USD = 1_000_000_000
const MICROS_PER_USD = 1_000_000

/** The warnings that were already sent. */
export interface Warned {
  /** The month of the last monthly warning, such as `2026-11`. */
  warnedMonth: string | null
  warnedRate: boolean
}

/** A limit and how much of it is used. */
export interface LimitFigures {
  limit: 'HOUR' | 'MONTH'
  /** USD per hour, or USD in the month. */
  used: number
  bound: number
  share: number
  /** The month of a MONTH limit, such as `2026-11`; null for HOUR. */
  month: string | null
}

/** A warning as its recipient gets it (BIL-28). */
export interface SpendWarning {
  type: 'spend.warning'
  timestamp: string
  data: LimitFigures
}

/** The message that the recipient gets when a limit stops pods (BIL-29). */
export interface SpendStop {
  type: 'spend.stop'
  timestamp: string
  data: LimitFigures & { podIds: string[] }
}

/** The facts from which warnings about spending are decided. */
export interface WatchedSpend {
  limits: SpendLimits
  use: SpendUse
  warned: Warned
  /** Name of the current month. */
  month: string
}

/** The warnings that are due, once a month and once each time that the rate nears its limit, and the new state of warnings to store. */
export function decideWarnings({ limits, use, warned, month }: WatchedSpend, nowMs: number): { warnings: SpendWarning[]; warned: Warned } {
  const timestamp = formatTime(nowMs)
  const bounds = boundsOf(limits, use)
  const [hour, ofMonth] = [nearest(bounds.map(hourFigures)), nearest(bounds.flatMap((bound) => monthFigures(bound, month)))]
  const isRateNear = hour !== null && hour.used > 0 && hour.share >= WARN_SHARE
  const isMonthNear = ofMonth !== null && ofMonth.share >= WARN_SHARE
  const warnings: SpendWarning[] = []
  if (isRateNear && !warned.warnedRate) warnings.push({ type: 'spend.warning', timestamp, data: hour })
  if (isMonthNear && warned.warnedMonth !== month) warnings.push({ type: 'spend.warning', timestamp, data: ofMonth })
  const warnedRate = isRateNear || (warned.warnedRate && hour !== null && hour.used > 0 && hour.share >= CALM_SHARE)
  return { warnings, warned: { warnedRate, warnedMonth: isMonthNear ? month : warned.warnedMonth } }
}

// Of equal shares the last wins, which is the account's own bound: its figures are more useful to the recipient.
function nearest(figures: readonly LimitFigures[]): LimitFigures | null {
  return figures.reduce<LimitFigures | null>((most, one) => (most && most.share > one.share ? most : one), null)
}

function hourFigures({ use: { nanosPerHour }, hourMicros }: SpendBound): LimitFigures {
  const share = shareOf(nanosPerHour, hourMicros * NANOS_PER_MICRO) ?? 0
  return { limit: 'HOUR', used: nanosPerHour / NANOS_PER_USD, bound: hourMicros / MICROS_PER_USD, share, month: null }
}

/** Empty if the bound has no monthly limit. */
function monthFigures({ use, monthMicros: bound }: SpendBound, month: string): LimitFigures[] {
  if (bound === null) return []
  const used = use.monthMicros ?? 0
  return [{ limit: 'MONTH', used: used / MICROS_PER_USD, bound: bound / MICROS_PER_USD, share: shareOf(used, bound) ?? 0, month }]
}

/** A running pod that costs something. */
export interface PaidPod {
  id: string
  teamId: string
  hostId: string
  createdAtMs: number
  locked: boolean
  /** The rate that stopping it saves, in billionths of a USD per hour. */
  savesNanosPerHour: number
}

/** Pods to stop, in order, and the reason. */
export interface SpendStops {
  pods: PaidPod[]
  reason: string
  figures: LimitFigures
}

/**
 * Pods of an account to stop, in order: the newest first, and never a locked one (BIL-27). Once a month's limit is spent, all of them; past
 * the hourly limit, only as many as bring the rate back to it. Past a shared ceiling, the newest pods of all accounts that share it are
 * chosen (SHR-2), and each account stops its own of these. Returns null if there are none. `pods`: those of all sharing accounts that chose
 * to have pods stopped. `month`: name of the current month.
 */
export function decideStops(
  teamId: string,
  limits: SpendLimits,
  use: SpendUse,
  pods: readonly PaidPod[],
  month: string,
): SpendStops | null {
  const newestFirst = pods
    .filter(({ locked, savesNanosPerHour }) => !locked && savesNanosPerHour > 0)
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1))
  const stops = boundsOf(limits, use).map((bound) => stopsFor(bound, newestFirst, teamId, month))
  // Each list is a prefix of the account's pods, newest first, so the longest contains the others.
  const most = stops.reduce((a, b) => (b.pods.length > a.pods.length ? b : a))
  return most.pods.length > 0 ? most : null
}

function stopsFor(bound: SpendBound, newestFirst: readonly PaidPod[], teamId: string, month: string): SpendStops {
  const isOwn = (pod: PaidPod) => pod.teamId === teamId
  const counted = bound.isShared ? newestFirst : newestFirst.filter(isOwn)
  const isSpent = isMonthSpent(bound)
  const stopped = isSpent ? counted : enoughOf(counted, bound.use.nanosPerHour - bound.hourMicros * NANOS_PER_MICRO)
  const figures = (isSpent ? monthFigures(bound, month)[0] : undefined) ?? hourFigures(bound)
  const together = bound.isShared ? ' by all accounts of one person together' : ''
  const what = isSpent ? 'USD of this month are spent' : 'USD per hour were in use'
  return {
    pods: stopped.filter(isOwn),
    reason: `stopped by the spend limit: ${usd(figures.used)} of ${usd(figures.bound)} ${what}${together}`,
    figures,
  }
}

/** The shortest prefix of `pods` that together saves this rate. */
function enoughOf(pods: readonly PaidPod[], nanosPerHour: number): PaidPod[] {
  let above = nanosPerHour
  return pods.filter(({ savesNanosPerHour }) => {
    const isNeeded = above > 0
    if (isNeeded) above -= savesNanosPerHour
    return isNeeded
  })
}
