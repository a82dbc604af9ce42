import type { OpenAPIHono } from '@hono/zod-openapi'
import { Spend, SpendQuery } from '../../../contract/billing/spending.ts'
import { getSpend } from '../../../services/spend/spending.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Billing')

const spendRoute = route('get', '/v2/spend', 'billing:read', {
  operationId: 'getSpend',
  summary: 'Read the current spend of the account by resource',
  description: 'Every pod, endpoint with workers, cluster and network volume with a cost: its rate and its cost so far.',
  request: { query: SpendQuery },
  responses: { 200: ok('The current spend.', Spend) },
})

/** Registers `/v2/spend` (SPD-1, SPD-2). */
export function registerSpending(app: OpenAPIHono<AppEnv>): void {
  app.openapi(spendRoute, async (c) => c.json(await getSpend(verbContext(c), c.req.valid('query')), 200))
}
