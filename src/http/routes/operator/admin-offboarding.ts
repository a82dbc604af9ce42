import type { OpenAPIHono } from '@hono/zod-openapi'
import { OffboardingOrChangePlan } from '../../../contract/accounts/offboarding.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { deleteUser } from '../../../services/operator/offboarding.ts'
import { planDeleteUser } from '../../../services/operator/plan-end.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { idParams, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Accounts')

const deleteRoute = route('delete', '/admin/v1/users/{id}', {
  operationId: 'deleteUser',
  summary: 'Delete a user: all work ends and the account is deleted; usage stays for the bill',
  description: 'Repeat the call until nothing is left. 409 for the only owner of an organization: transfer it first. It cannot be undone.',
  request: { params: idParams('User id.'), query: DryRunQuery },
  responses: { 200: operatorOkOrPlan('The effects.', OffboardingOrChangePlan) },
  problems: [409],
})

/** Registers the deletion of users (TEAM-23). */
export function registerAdminOffboarding(app: OpenAPIHono<AppEnv>): void {
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { dryRun } = c.req.valid('query')
    return c.json(await (dryRun ? planDeleteUser(operatorContext(c), id) : deleteUser(operatorContext(c), id)), 200)
  })
}
