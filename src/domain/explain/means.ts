import type { WhyOption } from '../../contract/explain-options.ts'
import { boundsOf, isMonthSpent, isPastHour, refuseSpend, type SpendLimits, type SpendUse } from '../billing/spend.ts'
import { operatorOption, ownOption } from './option.ts'

/** Remaining spend limits and quotas of an account (WHY-6). Pure. */
export interface Means {
  limits: SpendLimits
  use: SpendUse
  gpus: { used: number; bound: number }
  pods: { used: number; bound: number }
}

/** Amounts that a request adds to spending and quotas. */
export interface Needs {
  nanosPerHour: number
  gpus: number
  pods: number
}

/** A limit of the account that refuses a workload. */
export interface MeansBlock {
  code: 'SPEND_LIMIT' | 'QUOTA'
  text: string
}

const NANOS_PER_MICRO = 1_000
const MICROS_PER_CENT = 10_000
const MICROS_PER_USD = 1_000_000

/** Why the account's limits refuse a request; null: they allow it. */
export function refuseMeans(means: Means, { nanosPerHour, gpus, pods }: Needs): MeansBlock | null {
  const quota = pastBound('GPU', means.gpus, gpus) ?? pastBound('pod', means.pods, pods)
  if (quota !== null) return { code: 'QUOTA', text: quota }
  const refusal = refuseSpend(means.limits, means.use, nanosPerHour)
  return refusal?.detail ? { code: 'SPEND_LIMIT', text: refusal.detail } : null
}

/**
 * Option that lifts the refusal: the smallest sufficient spend limit, if the account may set it, otherwise a question to the operator. Null
 * when nothing is refused. `askedNanosPerHour`: cost of the request, for the option's price.
 */
export function meansOption(means: Means, needs: Needs, askedNanosPerHour: number): WhyOption | null {
  const block = refuseMeans(means, needs)
  if (!block) return null
  if (block.code === 'QUOTA') return operatorOption('QUOTA', "ask the operator to raise the account's budget", askedNanosPerHour)
  const change = raised(means, needs.nanosPerHour)
  if (!change) return operatorOption('SPEND_LIMIT', "ask the operator to raise the account's spend ceiling", askedNanosPerHour)
  const kind = 'SPEND_LIMIT'
  return ownOption({ kind, summary: summaryOf(change), nanosPerHour: askedNanosPerHour }, askedNanosPerHour, {
    method: 'PATCH',
    path: '/v2/billing/limits',
    body: change,
  })
}

function pastBound(noun: string, { used, bound }: Means['gpus'], more: number): string | null {
  return more > 0 && used + more > bound
    ? `${used} of the ${bound} ${noun}s in the account's budget are in use, the request needs ${more}`
    : null
}

/** Limits, rounded up to cents, under which the request fits; null: they are above the ceiling of the operator. */
function raised({ limits, use }: Means, nanosPerHour: number): Record<string, number> | null {
  // A higher limit for this account alone would not help.
  const isSharedSpent = boundsOf(limits, use).some((bound) => bound.isShared && (isPastHour(bound, nanosPerHour) || isMonthSpent(bound)))
  if (isSharedSpent) return null
  const perHour = upToCent((use.nanosPerHour + nanosPerHour) / NANOS_PER_MICRO)
  const needsHour = perHour > limits.hour.limitMicros
  // With the cost of one hour added, so that the limit is not reached at once.
  const perMonth = upToCent((use.monthMicros ?? 0) + nanosPerHour / NANOS_PER_MICRO + 1)
  const needsMonth = limits.month.limitMicros !== null && (use.monthMicros ?? 0) >= limits.month.limitMicros
  if (needsHour && perHour > limits.hour.ceilingMicros) return null
  if (needsMonth && limits.month.ceilingMicros !== null && perMonth > limits.month.ceilingMicros) return null
  return { ...(needsHour && { perHour: perHour / MICROS_PER_USD }), ...(needsMonth && { perMonth: perMonth / MICROS_PER_USD }) }
}

function upToCent(micros: number): number {
  return Math.ceil(micros / MICROS_PER_CENT) * MICROS_PER_CENT
}

function summaryOf({ perHour, perMonth }: Record<string, number>): string {
  const parts = [
    ...(perHour === undefined ? [] : [`${perHour.toFixed(2)} USD per hour`]),
    ...(perMonth === undefined ? [] : [`${perMonth.toFixed(2)} USD per month`]),
  ]
  return `raise the spend limit to ${parts.join(' and ')}`
}
