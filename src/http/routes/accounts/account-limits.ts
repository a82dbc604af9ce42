import type { OpenAPIHono } from '@hono/zod-openapi'
import { AccountLimits } from '../../../contract/accounts/budgets.ts'
import { getLimits } from '../../../services/budgets.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Account')

const getRoute = route('get', '/v2/account/limits', 'account:read', {
  operationId: 'getAccountLimits',
  summary: 'Read the use and bound of each budget of the account',
  description: 'A create request above a budget is refused with the name of the budget; the operator can raise it.',
  responses: { 200: ok('Use and bound of each budget.', AccountLimits) },
})

/** Registers `/v2/account/limits` (BUDGET-1). */
export function registerAccountLimits(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getLimits(verbContext(c)), 200))
}
