import type { Refusal } from '../../contract/problems.ts'
import { readMonthSpend } from '../../db/billing/month-spend.ts'
import { readSpend, type SpendDemand, type SpendState } from '../../db/billing/spend.ts'
import { openDatabase } from '../../db/client.ts'
import { monthOf, refuseSpend, type SpendLimits, type SpendSettings, spendLimitsOf } from '../../domain/billing/spend.ts'
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
  // Only a limit asks for the sum of a month.
  const hasMonth = view.limits.month.limitMicros !== null
  const monthMicros = hasMonth ? await readMonthSpend(openDatabase(env.DB), teamId, monthOf(nowMs), nowMs) : null
  return refuseSpend(view.limits, { nanosPerHour: view.nanosPerHour, monthMicros }, nanosPerHour)
}
