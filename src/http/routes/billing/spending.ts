import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { Spend, SpendQuery } from '../../../contract/billing/spending.ts'
import { getSpend } from '../../../services/spend/spending.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const spendRoute = createRoute({
  tags: ['Billing'],
  security: BEARER,
  method: 'get',
  path: '/v2/spend',
  operationId: 'getSpend',
  summary: 'Read the current spend of the account by resource',
  description: 'Every pod, endpoint with workers, cluster and network volume with a cost: its rate and its cost so far.',
  ...scoped('billing:read', []),
  request: { query: SpendQuery },
  responses: { 200: ok('The current spend.', Spend), ...problemResponses([401, 403, 422, 429], RATE_HEADERS) },
})

/** Registers `/v2/spend` (SPD-1, SPD-2). */
export function registerSpending(app: OpenAPIHono<AppEnv>): void {
  app.openapi(spendRoute, async (c) => c.json(await getSpend(verbContext(c), c.req.valid('query')), 200))
}
