import type { OpenAPIHono } from '@hono/zod-openapi'
import { SpendCeilings, SpendCeilingsOrChangePlan } from '../../../contract/billing/spend.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planCeilings } from '../../../services/accounts/dry-runs/plan-account.ts'
import { getCeilings, setCeilings } from '../../../services/billing/spend.ts'
import { changeOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const Params = idParams('User id.')
const route = operatorRoutes('Accounts')

const getRoute = route('get', '/admin/v1/users/{id}/spend-limits', {
  operationId: 'getSpendCeilings',
  summary: 'Read the spend ceilings of a user that differ from the default',
  description: 'The user may set lower limits.',
  request: { params: Params },
  responses: { 200: answer('The ceilings.', SpendCeilings) },
})

const setRoute = route('put', '/admin/v1/users/{id}/spend-limits', {
  operationId: 'setSpendCeilings',
  summary: 'Set the spend ceilings of a user; omitted ones return to the default',
  description: "The ceilings apply from the next request, independent of the user's own limits.",
  request: { params: Params, query: DryRunQuery, body: json(SpendCeilings) },
  responses: { 200: operatorOkOrPlan('The current ceilings.', SpendCeilingsOrChangePlan) },
})

/** Registers the ceilings of spend limits in the operator API (BIL-21). */
export function registerAdminSpend(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getCeilings(c.env, c.req.valid('param').id), 200))
  app.openapi(setRoute, (c) => changeOrPlan(c, operatorContext(c), planCeilings, setCeilings))
}
