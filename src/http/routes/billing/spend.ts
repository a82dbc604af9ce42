import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { SpendLimits, SpendLimitsOrChangePlan, SpendSummary, UpdateSpendLimitsRequest } from '../../../contract/billing/spend.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planSpendLimitsOf } from '../../../services/billing/plan-limits.ts'
import { getSpendLimits, getSummary, updateSpendLimits } from '../../../services/billing/spend.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, json, ok, okOrPlan, RATE_HEADERS } from '../../openapi/rest-components.ts'

const common = { tags: ['Billing'], security: BEARER }

const summaryRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/billing/summary',
  operationId: 'getBillingSummary',
  summary: 'Read the spend of the account and its limits',
  description: 'The current rate, the month so far with an estimate of its end, and the effective limits.',
  ...scoped('billing:read', []),
  responses: { 200: ok('The summary.', SpendSummary), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const limitsRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/billing/limits',
  operationId: 'getSpendLimits',
  etagOf: 'limits',
  summary: 'Read the spend limits of the account',
  description: 'New work above the limit is refused with 402; the webhook receives a warning before.',
  ...scoped('billing:read', []),
  responses: { 200: ok('The effective limits.', SpendLimits), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const updateRoute = createRoute({
  ...common,
  method: 'patch',
  path: '/v2/billing/limits',
  operationId: 'updateSpendLimits',
  etagOf: 'limits',
  summary: "Change the spend limits of the account, within the operator's ceilings",
  description: 'Omitted members stay unchanged.',
  ...scoped('account:write', [strictJson]),
  request: { query: DryRunQuery, body: json(UpdateSpendLimitsRequest) },
  responses: {
    200: okOrPlan('The effective limits.', SpendLimitsOrChangePlan),
    ...problemResponses([400, 401, 403, 413, 415, 422, 429], RATE_HEADERS),
  },
})

/** Registers spend limits and the summary below `/v2/billing` (BIL-20 to BIL-25). */
export function registerSpend(app: OpenAPIHono<AppEnv>): void {
  app.openapi(summaryRoute, async (c) => c.json(await getSummary(verbContext(c)), 200))
  app.openapi(limitsRoute, async (c) => c.json(await getSpendLimits(verbContext(c)), 200))
  app.openapi(updateRoute, async (c) => {
    const { dryRun } = c.req.valid('query')
    const body = c.req.valid('json')
    return c.json(await (dryRun ? planSpendLimitsOf(verbContext(c), body) : updateSpendLimits(verbContext(c), body)), 200)
  })
}
