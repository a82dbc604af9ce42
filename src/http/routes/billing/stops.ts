import type { OpenAPIHono } from '@hono/zod-openapi'
import { ListSpendStopsResponse, SpendStop, SpendStopOrPlan, StopSpendRequest } from '../../../contract/billing/stops.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planSpendStop } from '../../../services/spend/stop-plan.ts'
import { listSpendStops, stopSpend, undoSpendStop } from '../../../services/spend/stops.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ENDS } from '../../middleware/ending.ts'
import { idParams, json, ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Billing')
const Params = idParams('Id of the stop.')

const stopRoute = route('post', '/v2/spend/stop', 'pods:write', {
  operationId: 'stopSpend',
  summary: 'Stop costs of running workloads, reversibly',
  description:
    'Pods are stopped, endpoints get no workers; nothing is deleted. With `dryRun` the response is the plan. For endpoints the key also needs `serverless:write`.',
  middleware: [ENDS],
  request: { query: DryRunQuery, body: json(StopSpendRequest) },
  responses: { 200: ok('The stop. With `dryRun`: its plan.', SpendStopOrPlan) },
  problems: [409],
})

const listRoute = route('get', '/v2/spend/stops', 'billing:read', {
  operationId: 'listSpendStops',
  summary: 'List stops, which can be undone',
  description: 'The last 50, the newest first.',
  responses: { 200: ok('The stops.', ListSpendStopsResponse) },
})

const undoRoute = route('post', '/v2/spend/stops/{id}/undo', 'pods:write', {
  operationId: 'undoSpendStop',
  summary: 'Restore the items of a stop',
  description:
    'An item that cannot be restored contains the reason; the next call retries it. For endpoints the key also needs `serverless:write`.',
  request: { params: Params },
  responses: { 200: ok('The stop with the state of each item.', SpendStop) },
})

/** Registers stops of spending (SPD-10 to SPD-12). */
export function registerSpendStops(app: OpenAPIHono<AppEnv>): void {
  app.openapi(stopRoute, async (c) => {
    const body = c.req.valid('json')
    return c.json(await (c.req.valid('query').dryRun ? planSpendStop(verbContext(c), body) : stopSpend(verbContext(c), body)), 200)
  })
  app.openapi(listRoute, async (c) => c.json({ stops: await listSpendStops(verbContext(c)) }, 200))
  app.openapi(undoRoute, async (c) => c.json(await undoSpendStop(verbContext(c), c.req.valid('param').id), 200))
}
