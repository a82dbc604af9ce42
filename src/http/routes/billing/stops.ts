import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { ListSpendStopsResponse, SpendStop, SpendStopOrPlan, StopSpendRequest } from '../../../contract/billing/stops.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planSpendStop } from '../../../services/spend/stop-plan.ts'
import { listSpendStops, stopSpend, undoSpendStop } from '../../../services/spend/stops.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ENDS } from '../../middleware/ending.ts'
import { scoped } from '../../middleware/scope.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, json, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const common = { tags: ['Billing'], security: BEARER }
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Id of the stop.' }) })

const stopRoute = createRoute({
  ...common,
  method: 'post',
  path: '/v2/spend/stop',
  operationId: 'stopSpend',
  summary: 'Stop costs of running workloads, reversibly',
  description:
    'Pods are stopped, endpoints get no workers; nothing is deleted. With `dryRun` the response is the plan. For endpoints the key also needs `serverless:write`.',
  ...scoped('pods:write', [ENDS, strictJson]),
  request: { query: DryRunQuery, body: json(StopSpendRequest) },
  responses: {
    200: ok('The stop. With `dryRun`: its plan.', SpendStopOrPlan),
    ...problemResponses([400, 401, 403, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/spend/stops',
  operationId: 'listSpendStops',
  summary: 'List stops, which can be undone',
  description: 'The last 50, the newest first.',
  ...scoped('billing:read', []),
  responses: { 200: ok('The stops.', ListSpendStopsResponse), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const undoRoute = createRoute({
  ...common,
  method: 'post',
  path: '/v2/spend/stops/{id}/undo',
  operationId: 'undoSpendStop',
  summary: 'Restore the items of a stop',
  description:
    'An item that cannot be restored contains the reason; the next call retries it. For endpoints the key also needs `serverless:write`.',
  ...scoped('pods:write', []),
  request: { params: Params },
  responses: { 200: ok('The stop with the state of each item.', SpendStop), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
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
