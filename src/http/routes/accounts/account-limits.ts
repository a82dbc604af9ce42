import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { AccountLimits } from '../../../contract/accounts/budgets.ts'
import { getLimits } from '../../../services/budgets.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const getRoute = createRoute({
  tags: ['Account'],
  security: BEARER,
  path: '/v2/account/limits',
  method: 'get',
  operationId: 'getAccountLimits',
  summary: 'Read the use and bound of each budget of the account',
  description: 'A create request above a budget is refused with the name of the budget; the operator can raise it.',
  ...scoped('account:read', []),
  responses: { 200: ok('Use and bound of each budget.', AccountLimits), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

/** Registers `/v2/account/limits` (BUDGET-1). */
export function registerAccountLimits(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getLimits(verbContext(c)), 200))
}
