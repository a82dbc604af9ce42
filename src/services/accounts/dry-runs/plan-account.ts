import { BUDGET_NAMES, BUDGETS, type BudgetOverrides } from '../../../contract/accounts/budgets.ts'
import type { AccountIsolation } from '../../../contract/accounts/isolation.ts'
import type { SpendCeilings } from '../../../contract/billing/spend.ts'
import type { ChangedResource, ChangeEffect, ChangePlan } from '../../../contract/change-plan.ts'
import { findQuota, type QuotaRow, type UserRow } from '../../../db/accounts/accounts.ts'
import { findRuntimeClass } from '../../../db/accounts/isolation.ts'
import { findPlansOf } from '../../../db/accounts/plans.ts'
import { openDatabase } from '../../../db/client.ts'
import { listPlacementHosts } from '../../../db/hosts/placement-hosts.ts'
import { countRunningPods } from '../../../db/pods/running-pods.ts'
import { planBounds, planIsolation } from '../../../domain/plan/account.ts'
import { effect } from '../../../domain/plan/effect.ts'
import { DEFAULT_QUOTA, RATE_WINDOWS } from '../../../domain/rate-limit.ts'
import { ceilingsOf, previewLimits } from '../../billing/plan-limits.ts'
import { readUses } from '../../budgets.ts'
import { planChange } from '../../change-plan.ts'
import type { OperatorContext } from '../../context.ts'
import { findUserOrThrow } from '../../or-not-found.ts'

// Dry runs of limits that the operator sets for an account (DRY-11). Each throws 404.

/** Returns the plan of other request quotas. */
export async function planQuotas({ env }: OperatorContext, userId: string, quota: QuotaRow): Promise<ChangePlan> {
  const user = await findUserOrThrow(env, userId)
  const account = accountOf(user)
  return planChange('quotas.set', account, async () => {
    const before = await findQuota(openDatabase(env.DB), user.personalTeamId)
    return planQuotaChange(account, before, quota)
  })
}

function planQuotaChange(account: ChangedResource, before: QuotaRow, after: QuotaRow): ChangeEffect[] {
  const bounds = RATE_WINDOWS.map(({ name }) => ({ name: `requests a ${name}`, before: before[name], after: after[name], used: null }))
  if (before.exempt === after.exempt) return planBounds(account, bounds)
  const what = after.exempt ? 'it is exempt from them from now on' : 'it is exempt from them no longer'
  return [effect(account, 'CHANGES', 'INFO', what), ...planBounds(account, bounds)]
}

/** Returns the plan of removing the quota override, which puts the quotas of the account's plan in force. */
export async function planResetQuotas({ env }: OperatorContext, userId: string): Promise<ChangePlan> {
  const user = await findUserOrThrow(env, userId)
  const account = accountOf(user)
  const db = openDatabase(env.DB)
  return planChange('quotas.reset', account, async () => {
    const [before, { plan, fallback }] = await Promise.all([findQuota(db, user.personalTeamId), findPlansOf(db, user.personalTeamId)])
    return planQuotaChange(account, before, { ...(plan?.limits.requests ?? fallback.requests ?? DEFAULT_QUOTA), exempt: false })
  })
}

/** Returns the plan of other budgets, with budgets whose use is above the new bound. */
export async function planBudgets({ env, nowMs }: OperatorContext, userId: string, overrides: BudgetOverrides): Promise<ChangePlan> {
  const user = await findUserOrThrow(env, userId)
  const account = accountOf(user)
  return planChange('budgets.set', account, async () => {
    const [uses, { plan, fallback }] = await Promise.all([
      readUses(env, user.personalTeamId, nowMs),
      findPlansOf(openDatabase(env.DB), user.personalTeamId),
    ])
    const after = { ...fallback.budgets, ...plan?.limits.budgets, ...overrides }
    const bounds = BUDGET_NAMES.map((name) => {
      const { used, bound } = uses[name]
      return { name, before: bound, after: after[name] ?? BUDGETS[name].bound, used }
    })
    return planBounds(account, bounds)
  })
}

/** Returns the plan of other spend ceilings. */
export async function planCeilings(ctx: OperatorContext, userId: string, ceilings: SpendCeilings): Promise<ChangePlan> {
  const user = await findUserOrThrow(ctx.env, userId)
  const account = accountOf(user)
  return planChange('spend-limits.set', account, () => previewLimits(ctx, user.personalTeamId, account, ceilingsOf(ceilings)))
}

/** Returns the plan of another required runtime class. */
export async function planSetIsolation({ env }: OperatorContext, userId: string, { runtimeClass }: AccountIsolation): Promise<ChangePlan> {
  const user = await findUserOrThrow(env, userId)
  const account = accountOf(user)
  const db = openDatabase(env.DB)
  return planChange('isolation.set', account, async () => {
    const [before, hosts, running] = await Promise.all([
      findRuntimeClass(db, user.personalTeamId),
      listPlacementHosts(db),
      countRunningPods(db, user.personalTeamId),
    ])
    return planIsolation(account, { before, after: runtimeClass, hosts: hosts.map((host) => host.runtimeClass), running })
  })
}

/** Returns a user's account as the changed resource of an operator's dry run. */
export function accountOf({ id, email, personalTeamId }: UserRow): ChangedResource {
  return { kind: 'account', id, name: email, teamId: personalTeamId }
}
