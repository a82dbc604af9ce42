import type { OpenAPIHono } from '@hono/zod-openapi'
import { SpendLimits, SpendLimitsOrChangePlan, SpendSummary, UpdateSpendLimitsRequest } from '../../../contract/billing/spend.ts'
import { Spend, SpendQuery } from '../../../contract/billing/spending.ts'
import { ListSpendStopsResponse, SpendStop, SpendStopOrPlan, StopSpendRequest } from '../../../contract/billing/stops.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planSpendLimitsOf } from '../../../services/billing/plan-limits.ts'
import { getSpendLimits, getSummary, updateSpendLimits } from '../../../services/billing/spend.ts'
import { getSpend } from '../../../services/spend/spending.ts'
import { planSpendStop } from '../../../services/spend/stop-plan.ts'
import { listSpendStops, stopSpend, undoSpendStop } from '../../../services/spend/stops.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ENDS } from '../../middleware/ending.ts'
import { idParams, json, ok, okOrPlan } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Billing')
const Params = idParams('Id of the stop.')

const summaryRoute = route('get', '/v2/billing/summary', 'billing:read', {
  operationId: 'getBillingSummary',
  summary: 'Read the spend of the account and its limits',
  description: 'The current rate, the month so far with an estimate of its end, and the effective limits.',
  responses: { 200: ok('The summary.', SpendSummary) },
})

const limitsRoute = route('get', '/v2/billing/limits', 'billing:read', {
  operationId: 'getSpendLimits',
  etagOf: 'limits',
  summary: 'Read the spend limits of the account',
  description: 'New work above the limit is refused with 402; the webhook receives a warning before.',
  responses: { 200: ok('The effective limits.', SpendLimits) },
})

const updateRoute = route('patch', '/v2/billing/limits', 'account:write', {
  operationId: 'updateSpendLimits',
  etagOf: 'limits',
  summary: "Change the spend limits of the account, within the operator's ceilings",
  description: 'Omitted members stay unchanged.',
  request: { query: DryRunQuery, body: json(UpdateSpendLimitsRequest) },
  responses: { 200: okOrPlan('The effective limits.', SpendLimitsOrChangePlan) },
})

const spendRoute = route('get', '/v2/spend', 'billing:read', {
  operationId: 'getSpend',
  summary: 'Read the current spend of the account by resource',
  description: 'Every pod, endpoint with workers, cluster and network volume with a cost: its rate and its cost so far.',
  request: { query: SpendQuery },
  responses: { 200: ok('The current spend.', Spend) },
})

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

const stopsRoute = route('get', '/v2/spend/stops', 'billing:read', {
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

/**
 * Registers `/v2/spend` with its stops, and the spend limits and the summary below `/v2/billing` (BIL-20 to BIL-25, SPD-1, SPD-2, SPD-10 to
 * SPD-12).
 */
export function registerSpend(app: OpenAPIHono<AppEnv>): void {
  app.openapi(summaryRoute, async (c) => c.json(await getSummary(verbContext(c)), 200))
  app.openapi(limitsRoute, async (c) => c.json(await getSpendLimits(verbContext(c)), 200))
  app.openapi(updateRoute, async (c) => {
    const { dryRun } = c.req.valid('query')
    const body = c.req.valid('json')
    return c.json(await (dryRun ? planSpendLimitsOf(verbContext(c), body) : updateSpendLimits(verbContext(c), body)), 200)
  })
  app.openapi(spendRoute, async (c) => c.json(await getSpend(verbContext(c), c.req.valid('query')), 200))
  app.openapi(stopRoute, async (c) => {
    const body = c.req.valid('json')
    return c.json(await (c.req.valid('query').dryRun ? planSpendStop(verbContext(c), body) : stopSpend(verbContext(c), body)), 200)
  })
  app.openapi(stopsRoute, async (c) => c.json({ stops: await listSpendStops(verbContext(c)) }, 200))
  app.openapi(undoRoute, async (c) => c.json(await undoSpendStop(verbContext(c), c.req.valid('param').id), 200))
}
