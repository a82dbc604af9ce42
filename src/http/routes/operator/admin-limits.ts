import type { OpenAPIHono } from '@hono/zod-openapi'
import { BudgetOverrides, BudgetOverridesOrChangePlan } from '../../../contract/accounts/budgets.ts'
import { UserLimits } from '../../../contract/accounts/user-limits.ts'
import { SpendCeilings, SpendCeilingsOrChangePlan } from '../../../contract/billing/spend.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planBudgets, planCeilings } from '../../../services/accounts/dry-runs/plan-account.ts'
import { getUserLimits } from '../../../services/accounts/user-limits.ts'
import { getCeilings, setCeilings } from '../../../services/billing/spend.ts'
import { getBudgets, setBudgets } from '../../../services/budgets.ts'
import { changeOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const Params = idParams('User id.')
const route = operatorRoutes('Accounts')

const getBudgetsRoute = route('get', '/admin/v1/users/{id}/budgets', {
  operationId: 'getBudgets',
  summary: 'Read the budget overrides of a user',
  description: 'Budgets without an override have the values of the plan or of the plane. `/admin/v1/users/{id}/limits` has the use.',
  request: { params: Params },
  responses: { 200: answer('The overrides.', BudgetOverrides) },
})

const setBudgetsRoute = route('put', '/admin/v1/users/{id}/budgets', {
  operationId: 'setBudgets',
  summary: "Override a user's budgets; omitted ones return to the default",
  description: 'Resources in use stay, even above a lower budget.',
  request: { params: Params, query: DryRunQuery, body: json(BudgetOverrides) },
  responses: { 200: operatorOkOrPlan('The current overrides.', BudgetOverridesOrChangePlan) },
})

const limitsRoute = route('get', '/admin/v1/users/{id}/limits', {
  operationId: 'getUserLimits',
  summary: "Read the use and the limits of a user's account",
  description:
    'The effective request windows, budgets and spend limits, each with its use. The overrides of the user have operations of their own.',
  request: { params: Params },
  responses: { 200: answer('Use and limits.', UserLimits) },
})

const getCeilingsRoute = route('get', '/admin/v1/users/{id}/spend-limits', {
  operationId: 'getSpendCeilings',
  summary: 'Read the spend ceilings of a user that differ from the default',
  description: 'The user may set lower limits.',
  request: { params: Params },
  responses: { 200: answer('The ceilings.', SpendCeilings) },
})

const setCeilingsRoute = route('put', '/admin/v1/users/{id}/spend-limits', {
  operationId: 'setSpendCeilings',
  summary: 'Set the spend ceilings of a user; omitted ones return to the default',
  description: "The ceilings apply from the next request, independent of the user's own limits.",
  request: { params: Params, query: DryRunQuery, body: json(SpendCeilings) },
  responses: { 200: operatorOkOrPlan('The current ceilings.', SpendCeilingsOrChangePlan) },
})

/** Registers the budgets and the limits of accounts in the operator API (BUDGET-2, UI-68). */
export function registerAdminLimits(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getBudgetsRoute, async (c) => c.json(await getBudgets(c.env, c.req.valid('param').id), 200))
  app.openapi(setBudgetsRoute, (c) => changeOrPlan(c, operatorContext(c), planBudgets, setBudgets))
  app.openapi(limitsRoute, async (c) => c.json(await getUserLimits(c.env, c.req.valid('param').id, operatorContext(c).nowMs), 200))
}

/** Registers the ceilings of spend limits in the operator API (BIL-21). */
export function registerAdminSpend(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getCeilingsRoute, async (c) => c.json(await getCeilings(c.env, c.req.valid('param').id), 200))
  app.openapi(setCeilingsRoute, (c) => changeOrPlan(c, operatorContext(c), planCeilings, setCeilings))
}
