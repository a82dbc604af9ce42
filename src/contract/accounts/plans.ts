import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { Timestamp } from '../fields.ts'
import { RequestQuota } from './accounts.ts'
import { BudgetOverrides } from './budgets.ts'

/** The plan of every account without a plan of its own (PLAN-2). */
export const DEFAULT_PLAN = 'default'

/** The name of a plan. */
export const PlanName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
  .meta({ description: 'Lower-case letters, digits and hyphens. `default` is the plan of every account without one.', example: 'research' })

const REQUESTS = { minute: 600, hour: 30_000, day: 500_000 }
const LIMITS = { requests: REQUESTS, budgets: { gpus: 512, organizations: 3 } }

export const PlanLimits = z
  .strictObject({
    requests: z
      .strictObject({ minute: RequestQuota, hour: RequestQuota, day: RequestQuota })
      .optional()
      .meta({ description: 'REST requests per window (RATE-1).' }),
    budgets: BudgetOverrides.optional(),
  })
  .meta({
    id: 'PlanLimits',
    description: 'An omitted member has the value of the plan `default`, or of the plane (PLAN-2).',
    example: LIMITS,
  })
export type PlanLimits = z.infer<typeof PlanLimits>

export const LimitsPlan = z
  .object({
    name: PlanName,
    limits: PlanLimits,
    accounts: z.number().int().meta({ description: 'Number of accounts with this plan.' }),
    updatedAt: Timestamp,
  })
  .meta({ id: 'LimitsPlan', example: { name: 'research', limits: LIMITS, accounts: 12, updatedAt: '2026-06-01T12:00:00Z' } })
export type LimitsPlan = z.infer<typeof LimitsPlan>

export const ListPlansResponse = z.object({ plans: z.array(LimitsPlan) }).meta({ id: 'ListPlansResponse', example: { plans: [] } })

/** Answer of a change: the plan of limits, or with `dryRun` a preview. */
export const LimitsPlanOrChangePlan = orChangePlan('LimitsPlanOrChangePlan', LimitsPlan)

export const AccountPlan = z
  .strictObject({ plan: PlanName.nullable().meta({ description: 'Null: no plan of its own.' }) })
  .meta({ id: 'AccountPlan', example: { plan: 'research' } })
export type AccountPlan = z.infer<typeof AccountPlan>

/** Answer of a change: the account's plan, or with `dryRun` a preview. */
export const AccountPlanOrChangePlan = orChangePlan('AccountPlanOrChangePlan', AccountPlan)
