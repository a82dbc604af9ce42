import type { OpenAPIHono } from '@hono/zod-openapi'
import { SpendLimits, SpendLimitsOrChangePlan, SpendSummary, UpdateSpendLimitsRequest } from '../../../contract/billing/spend.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planSpendLimitsOf } from '../../../services/billing/plan-limits.ts'
import { getSpendLimits, getSummary, updateSpendLimits } from '../../../services/billing/spend.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { json, ok, okOrPlan } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Billing')

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
