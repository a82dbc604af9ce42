import type { OpenAPIHono } from '@hono/zod-openapi'
import { AccountIsolation, AccountIsolationOrChangePlan } from '../../../contract/accounts/isolation.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planSetIsolation } from '../../../services/accounts/dry-runs/plan-account.ts'
import { getIsolation, setIsolation } from '../../../services/accounts/isolation.ts'
import { changeOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const Params = idParams('User id.')
const route = operatorRoutes('Accounts')

const getRoute = route('get', '/admin/v1/users/{id}/isolation', {
  operationId: 'getIsolation',
  summary: 'Read the required container runtime of a user',
  description: 'Placement skips hosts without this runtime for containers of the user.',
  request: { params: Params },
  responses: { 200: answer('The requirement.', AccountIsolation) },
})

const setRoute = route('put', '/admin/v1/users/{id}/isolation', {
  operationId: 'setIsolation',
  summary: 'Require a container runtime for a user; applies to the next placement',
  description: 'Running containers are not affected.',
  request: { params: Params, query: DryRunQuery, body: json(AccountIsolation) },
  responses: { 200: operatorOkOrPlan('The current requirement.', AccountIsolationOrChangePlan) },
})

/** Registers the isolation that the operator requires of an account's hosts (CLASS-1). */
export function registerAdminIsolation(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getIsolation(c.env, c.req.valid('param').id), 200))
  app.openapi(setRoute, (c) => changeOrPlan(c, operatorContext(c), planSetIsolation, setIsolation))
}
