import type { OpenAPIHono } from '@hono/zod-openapi'
import { BudgetOverrides, BudgetOverridesOrChangePlan } from '../../../contract/accounts/budgets.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planBudgets } from '../../../services/accounts/dry-runs/plan-account.ts'
import { getBudgets, setBudgets } from '../../../services/budgets.ts'
import { changeOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const Params = idParams('User id.')
const route = operatorRoutes('Accounts')

const getRoute = route('get', '/admin/v1/users/{id}/budgets', {
  operationId: 'getBudgets',
  summary: 'Read the budget overrides of a user',
  description: 'Budgets without an override have the values of the plan or of the plane. `/admin/v1/users/{id}/limits` has the use.',
  request: { params: Params },
  responses: { 200: answer('The overrides.', BudgetOverrides) },
})

const setRoute = route('put', '/admin/v1/users/{id}/budgets', {
  operationId: 'setBudgets',
  summary: "Override a user's budgets; omitted ones return to the default",
  description: 'Resources in use stay, even above a lower budget.',
  request: { params: Params, query: DryRunQuery, body: json(BudgetOverrides) },
  responses: { 200: operatorOkOrPlan('The current overrides.', BudgetOverridesOrChangePlan) },
})

/** Registers the budgets of accounts in the operator API (BUDGET-2). */
export function registerAdminBudgets(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getBudgets(c.env, c.req.valid('param').id), 200))
  app.openapi(setRoute, (c) => changeOrPlan(c, operatorContext(c), planBudgets, setBudgets))
}
