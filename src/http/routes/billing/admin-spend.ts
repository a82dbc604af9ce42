import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { SpendCeilings, SpendCeilingsOrChangePlan } from '../../../contract/billing/spend.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planCeilings } from '../../../services/accounts/dry-runs/plan-account.ts'
import { getCeilings, setCeilings } from '../../../services/billing/spend.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, operatorOkOrPlan } from '../../openapi/rest-components.ts'

const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'User id.' }) })
const common = { tags: ['Accounts'], security: BEARER, path: '/admin/v1/users/{id}/spend-limits' }
const content = { 'application/json': { schema: SpendCeilings } }

const getRoute = createRoute({
  ...common,
  method: 'get',
  operationId: 'getSpendCeilings',
  summary: 'Read the spend ceilings of a user that differ from the default',
  description: 'The user may set lower limits.',
  request: { params: Params },
  responses: { 200: { description: 'The ceilings.', content }, ...problemResponses([401, 404]) },
})

const setRoute = createRoute({
  ...common,
  middleware: strictJson,
  method: 'put',
  operationId: 'setSpendCeilings',
  summary: 'Set the spend ceilings of a user; omitted ones return to the default',
  description: "The ceilings apply from the next request, independent of the user's own limits.",
  request: { params: Params, query: DryRunQuery, body: { required: true, content } },
  responses: {
    200: operatorOkOrPlan('The current ceilings.', SpendCeilingsOrChangePlan),
    ...problemResponses([400, 401, 404, 413, 415, 422]),
  },
})

/** Registers the ceilings of spend limits in the operator API (BIL-21). */
export function registerAdminSpend(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getCeilings(c.env, c.req.valid('param').id), 200))
  app.openapi(setRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planCeilings(operatorContext(c), id, c.req.valid('json')), 200)
    return c.json(await setCeilings(operatorContext(c), id, c.req.valid('json')), 200)
  })
}
