import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { BudgetOverrides, BudgetOverridesOrChangePlan } from '../../../contract/accounts/budgets.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planBudgets } from '../../../services/accounts/dry-runs/plan-account.ts'
import { getBudgets, setBudgets } from '../../../services/budgets.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, operatorOkOrPlan } from '../../openapi/rest-components.ts'

const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'User id.' }) })
const common = { tags: ['Accounts'], security: BEARER, path: '/admin/v1/users/{id}/budgets' }
const content = { 'application/json': { schema: BudgetOverrides } }

const getRoute = createRoute({
  ...common,
  method: 'get',
  operationId: 'getBudgets',
  summary: 'Read the budget overrides of a user',
  description: 'Budgets without an override have the values of the plan or of the plane. `/admin/v1/users/{id}/limits` has the use.',
  request: { params: Params },
  responses: { 200: { description: 'The overrides.', content }, ...problemResponses([401, 404]) },
})

const setRoute = createRoute({
  ...common,
  middleware: strictJson,
  method: 'put',
  operationId: 'setBudgets',
  summary: "Override a user's budgets; omitted ones return to the default",
  description: 'Resources in use stay, even above a lower budget.',
  request: { params: Params, query: DryRunQuery, body: { required: true, content } },
  responses: {
    200: operatorOkOrPlan('The current overrides.', BudgetOverridesOrChangePlan),
    ...problemResponses([400, 401, 404, 413, 415, 422]),
  },
})

/** Registers the budgets of accounts in the operator API (BUDGET-2). */
export function registerAdminBudgets(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getBudgets(c.env, c.req.valid('param').id), 200))
  app.openapi(setRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planBudgets(operatorContext(c), id, c.req.valid('json')), 200)
    return c.json(await setBudgets(operatorContext(c), id, c.req.valid('json')), 200)
  })
}
