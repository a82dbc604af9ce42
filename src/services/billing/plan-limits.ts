import type { SpendCeilings, UpdateSpendLimitsRequest } from '../../contract/billing/spend.ts'
import type { ChangedResource, ChangeEffect, ChangePlan } from '../../contract/change-plan.ts'
import type { SpendChange } from '../../db/billing/spend.ts'
import { openDatabase } from '../../db/client.ts'
import { readHoldings } from '../../db/operator/account-holdings.ts'
import { planSpendLimits } from '../../domain/plan/account.ts'
import { limitsInForce, readUse, viewSpend } from '../../effects/billing/spend.ts'
import { planChange } from '../change-plan.ts'
import type { OperatorContext, VerbContext } from '../context.ts'
import { requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'
import { changeOf, microsOf, refuseLimits, tagOfLimits } from './spend.ts'

/** Returns the plan of other limits for the account (DRY-11); throws the errors of the change. Throws 403. */
export async function planSpendLimitsOf(ctx: VerbContext, body: UpdateSpendLimitsRequest): Promise<ChangePlan> {
  const { env, principal } = ctx
  requireScope(principal, 'account:write')
  const { teamId } = principal
  const account = { kind: 'account' as const, id: teamId, name: null }
  return planChange('spend-limits.update', account, async () => {
    const view = await viewSpend(env, teamId)
    requireMatch(ctx, tagOfLimits(ctx, view))
    await refuseLimits(env, teamId, view, body)
    return previewLimits(ctx, teamId, account, changeOf(env, teamId, body))
  })
}

/** Returns the effects of other spend limits on an account, and whether its present spending exceeds them. */
export async function previewLimits(
  { env, nowMs }: Pick<OperatorContext, 'env' | 'nowMs'>,
  teamId: string,
  account: ChangedResource,
  { webhookSealed: _webhook, ...change }: SpendChange,
): Promise<ChangeEffect[]> {
  const db = openDatabase(env.DB)
  const [view, { running }] = await Promise.all([viewSpend(env, teamId), readHoldings(db, teamId, nowMs)])
  const settings = { ...view.settings, ...change }
  const after = limitsInForce(env, settings)
  return planSpendLimits(account, {
    before: view.limits,
    after,
    use: await readUse(env, teamId, { ...view, limits: after }, nowMs, true),
    stopsPods: settings.stopsPods,
    running,
  })
}

/** Returns the row of the operator's ceilings; an omitted ceiling returns to its default. */
export function ceilingsOf({ perHour, perMonth }: SpendCeilings): SpendChange {
  return { ceilingMicrosPerHour: microsOf(perHour ?? null), ceilingMicrosPerMonth: microsOf(perMonth ?? null) }
}
