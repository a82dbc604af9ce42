import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { AccountIsolation, AccountIsolationOrChangePlan } from '../../../contract/accounts/isolation.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planSetIsolation } from '../../../services/accounts/dry-runs/plan-account.ts'
import { getIsolation, setIsolation } from '../../../services/accounts/isolation.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, operatorOkOrPlan } from '../../openapi/rest-components.ts'

const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'User id.' }) })
const common = { tags: ['Accounts'], security: BEARER, path: '/admin/v1/users/{id}/isolation' }
const content = { 'application/json': { schema: AccountIsolation } }

const getRoute = createRoute({
  ...common,
  method: 'get',
  operationId: 'getIsolation',
  summary: 'Read the required container runtime of a user',
  description: 'Placement skips hosts without this runtime for containers of the user.',
  request: { params: Params },
  responses: { 200: { description: 'The requirement.', content }, ...problemResponses([401, 404]) },
})

const setRoute = createRoute({
  ...common,
  middleware: strictJson,
  method: 'put',
  operationId: 'setIsolation',
  summary: 'Require a container runtime for a user; applies to the next placement',
  description: 'Running containers are not affected.',
  request: { params: Params, query: DryRunQuery, body: { required: true, content } },
  responses: {
    200: operatorOkOrPlan('The current requirement.', AccountIsolationOrChangePlan),
    ...problemResponses([400, 401, 404, 413, 415, 422]),
  },
})

/** Registers the isolation that the operator requires of an account's hosts (CLASS-1). */
export function registerAdminIsolation(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getIsolation(c.env, c.req.valid('param').id), 200))
  app.openapi(setRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planSetIsolation(operatorContext(c), id, c.req.valid('json')), 200)
    return c.json(await setIsolation(operatorContext(c), id, c.req.valid('json')), 200)
  })
}
