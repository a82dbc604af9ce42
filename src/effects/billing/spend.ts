import type { Refusal } from '../../contract/problems.ts'
import { readMonthTogether } from '../../db/billing/month-limit.ts'
import { readMonthSpend } from '../../db/billing/month-spend.ts'
import { readSpend, type SpendDemand, type SpendState } from '../../db/billing/spend.ts'
import { openDatabase } from '../../db/client.ts'
import { monthOf, refuseSpend, type SpendLimits, type SpendSettings, type SpendUse, spendLimitsOf } from '../../domain/billing/spend.ts'
import { type Env, readSettings } from '../../env.ts'

/** Returns the hourly cost of a resource and the limits to check it against, for the statement that reserves it (BIL-22, BIL-23). */
export function spendDemand(env: Env, nanosPerHour: number): SpendDemand {
  // Uses the instant of the statement and not that of the request: the cost of the month keeps growing.
  const nowMs = Date.now()
  return {
    nanosPerHour,
    defaultMicrosPerHour: readSettings(env).spendLimitMicrosPerHour,
    month: { startMs: monthOf(nowMs).startMs, nowMs },
  }
}

/** Current spending of an account and its limits. */
export interface SpendView extends SpendState {
  limits: SpendLimits
  nanosPerHour: number
}

/** Reads an account's spend limits in force, and its present rate in billionths of a USD per hour. */
export async function viewSpend(env: Env, teamId: string): Promise<SpendView> {
  const state = await readSpend(openDatabase(env.DB), teamId)
  const nanosPerHour = Object.values(state.nanosByKind).reduce((total, nanos) => total + nanos, 0)
  return { ...state, limits: limitsInForce(env, state.settings), nanosPerHour }
}

/** The limits that apply to these settings, with the plane's default for an account without a ceiling. */
export function limitsInForce(env: Env, settings: SpendSettings): SpendLimits {
  return spendLimitsOf(settings, readSettings(env).spendLimitMicrosPerHour)
}

/** Returns why an account may not add a resource of this hourly cost (BIL-22, BIL-23); null: it may. */
export async function findSpendRefusal(env: Env, teamId: string, nanosPerHour: number, nowMs: number): Promise<Refusal | null> {
  if (nanosPerHour <= 0) return null
  const view = await viewSpend(env, teamId)
  return refuseSpend(view.limits, await readUse(env, teamId, view, nowMs), nanosPerHour)
}

/**
 * Returns the spending of an account and of all accounts that share its ceiling (SHR-1). The sum of the month is read only for a limit that
 * needs it, or with `isMonthShown`.
 */
export async function readUse(env: Env, teamId: string, view: SpendView, nowMs: number, isMonthShown = false): Promise<SpendUse> {
  const db = openDatabase(env.DB)
  const month = monthOf(nowMs)
  const { limitMicros, ceilingMicros } = view.limits.month
  const isAlone = view.together.accounts <= 1
  const [monthMicros, togetherMicros] = await Promise.all([
    isMonthShown || limitMicros !== null ? readMonthSpend(db, teamId, month, nowMs) : null,
    isAlone || ceilingMicros === null ? null : readMonthTogether(db, teamId, { startMs: month.startMs, nowMs }),
  ])
  const together = isAlone ? null : { nanosPerHour: view.together.nanosPerHour, monthMicros: togetherMicros }
  return { nanosPerHour: view.nanosPerHour, monthMicros, together }
}
