import type { Refusal } from '../../contract/problems.ts'
import { readMonthTogether } from '../../db/billing/month-limit.ts'
import { readMonthSpend } from '../../db/billing/month-spend.ts'
import { readSpend, type SpendDemand, type SpendState } from '../../db/billing/spend.ts'
import { openDatabase } from '../../db/client.ts'
import { monthOf, refuseSpend, type SpendLimits, type SpendSettings, type SpendUse, spendLimitsOf } from '../../domain/billing/spend.ts'
import { type Env, readSettings } from '../../env.ts'

/** What something costs an hour, for the statement that takes it (BIL-22, BIL-23). */
export function spendDemand(env: Env, nanosPerHour: number): SpendDemand {
  const nowMs = Date.now()
  return {
    nanosPerHour,
    defaultMicrosPerHour: readSettings(env).spendLimitMicrosPerHour,
    month: { startMs: monthOf(nowMs).startMs, nowMs },
  }
}

/** What an account spends now, and may. */
export interface SpendView extends SpendState {
  limits: SpendLimits
  nanosPerHour: number
}

export async function viewSpend(env: Env, teamId: string): Promise<SpendView> {
  const state = await readSpend(openDatabase(env.DB), teamId)
  const nanosPerHour = Object.values(state.nanosByKind).reduce((total, nanos) => total + nanos, 0)
  return { ...state, limits: limitsInForce(env, state.settings), nanosPerHour }
}

export function limitsInForce(env: Env, settings: SpendSettings): SpendLimits {
  return spendLimitsOf(settings, readSettings(env).spendLimitMicrosPerHour)
}

/** Why an account may not have something that costs so much an hour (BIL-22, BIL-23); null: it may. */
export async function findSpendRefusal(env: Env, teamId: string, nanosPerHour: number, nowMs: number): Promise<Refusal | null> {
  if (nanosPerHour <= 0) return null
  const view = await viewSpend(env, teamId)
  return refuseSpend(view.limits, await readUse(env, teamId, view, nowMs), nanosPerHour)
}

/** What an account spends, and the accounts that share its ceiling together (SHR-1). Only a limit asks for the sum of a month, or `isMonthShown`. */
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
