import { BUDGET_NAMES, BUDGETS } from '../../../contract/accounts/budgets.ts'
import type { AccountPlan, PlanLimits } from '../../../contract/accounts/plans.ts'
import type { ChangedResource, ChangePlan } from '../../../contract/change-plan.ts'
import { findQuota, findQuotaOverride } from '../../../db/accounts/accounts.ts'
import { findOverrides } from '../../../db/accounts/budgets.ts'
import * as table from '../../../db/accounts/plans.ts'
import { openDatabase } from '../../../db/client.ts'
import { type BoundChange, planBounds } from '../../../domain/plan/account.ts'
import { effect } from '../../../domain/plan/effect.ts'
import { DEFAULT_QUOTA, RATE_WINDOWS, type RateQuota } from '../../../domain/rate-limit.ts'
import { readUses } from '../../budgets.ts'
import { planChange } from '../../change-plan.ts'
import type { OperatorContext } from '../../context.ts'
import { accountOfOwner, findPlanOrThrow, type PlanOwner, refuseDeletion, requireKnown } from '../plans.ts'

// Dry runs of changes of plans (PLAN-4).

/** Returns the dry run of other limits for a plan. */
export async function planSetPlan({ env }: OperatorContext, name: string, limits: PlanLimits): Promise<ChangePlan> {
  const db = openDatabase(env.DB)
  const [before] = await table.listPlans(db, name)
  const resource: ChangedResource = { kind: 'plan', id: name, name }
  return planChange('plans.set', resource, async () => {
    const accounts = before?.accounts ?? 0
    const held = effect(resource, 'CHANGES', 'INFO', `it holds for ${accounts} ${accounts === 1 ? 'account' : 'accounts'}`)
    return [{ ...held, amount: accounts }, ...planBounds(resource, changesOf(before?.limits ?? {}, limits))]
  })
}

/** Returns the dry run of deleting a plan. Throws 404. */
export async function planDeletePlan({ env }: OperatorContext, name: string): Promise<ChangePlan> {
  const plan = await findPlanOrThrow(env, name)
  const resource: ChangedResource = { kind: 'plan', id: name, name }
  return planChange('plans.delete', resource, async () => {
    refuseDeletion(plan)
    return [effect(resource, 'DELETES', 'INFO', 'no account has it')]
  })
}

/** Returns the dry run of another plan for an account, with budgets whose use is above the new bound. Throws 404. */
export async function planAccountPlan(ctx: OperatorContext, owner: PlanOwner, { plan }: AccountPlan): Promise<ChangePlan> {
  const { env } = ctx
  const db = openDatabase(env.DB)
  const { teamId, name } = await accountOfOwner(env, owner)
  const kind = owner.kind === 'user' ? 'account' : 'organization'
  const resource: ChangedResource = { kind, id: owner.id, name, teamId }
  return planChange(`${owner.kind}s.set-plan`, resource, async () => {
    await requireKnown(env, plan)
    // An organization with a plan is counted alone, one without a plan together with its creator; when that changes, the present use is not
    // the use under the new plan.
    const isCounted = owner.kind === 'user' || (plan === null) === ((await table.findTeamPlan(db, teamId)) === null)
    return planBounds(resource, await boundsUnder(ctx, teamId, plan, isCounted))
  })
}

async function boundsUnder(ctx: OperatorContext, teamId: string, plan: string | null, isCounted: boolean): Promise<BoundChange[]> {
  const db = openDatabase(ctx.env.DB)
  const [uses, budgetsTeam, quota, override] = await Promise.all([
    readUses(ctx.env, teamId, ctx.nowMs),
    table.findBudgetsTeam(db, teamId, plan),
    findQuota(db, teamId),
    findQuotaOverride(db, teamId),
  ])
  const [bounds, { plan: found, fallback }] = await Promise.all([
    findOverrides(db, budgetsTeam),
    budgetsTeam === teamId ? table.findPlans(db, plan) : table.findPlansOf(db, budgetsTeam),
  ])
  const after = { ...fallback.budgets, ...found?.limits.budgets, ...bounds }
  const budgets = BUDGET_NAMES.map((name) => {
    const { used, bound } = uses[name]
    return { name, before: bound, after: after[name] ?? BUDGETS[name].bound, used: isCounted ? used : null }
  })
  const requests: RateQuota = override ?? found?.limits.requests ?? fallback.requests ?? DEFAULT_QUOTA
  return [
    ...RATE_WINDOWS.map(({ name }) => ({ name: `requests a ${name}`, before: quota[name], after: requests[name], used: null })),
    ...budgets,
  ]
}

function changesOf(before: PlanLimits, after: PlanLimits): BoundChange[] {
  const requestsOf = (limits: PlanLimits) => limits.requests ?? DEFAULT_QUOTA
  return [
    ...RATE_WINDOWS.map(({ name }) => ({
      name: `requests a ${name}`,
      before: requestsOf(before)[name],
      after: requestsOf(after)[name],
      used: null,
    })),
    ...BUDGET_NAMES.map((name) => ({
      name,
      before: before.budgets?.[name] ?? BUDGETS[name].bound,
      after: after.budgets?.[name] ?? BUDGETS[name].bound,
      used: null,
    })),
  ]
}
