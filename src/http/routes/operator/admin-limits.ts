import type { OpenAPIHono } from '@hono/zod-openapi'
import { UserLimits } from '../../../contract/accounts/user-limits.ts'
import { getUserLimits } from '../../../services/accounts/user-limits.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Accounts')

const getRoute = route('get', '/admin/v1/users/{id}/limits', {
  operationId: 'getUserLimits',
  summary: "What a user's account holds and spends, and the most that it may",
  description:
    'Requests a window, budgets and spend in force, from the plane or from the operator, each with its use. What is set for the user alone is elsewhere.',
  request: { params: idParams('User id.') },
  responses: { 200: answer('Use and bounds.', UserLimits) },
})

/** Registers the limits of accounts in the operator API (UI-68). */
export function registerAdminLimits(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getUserLimits(c.env, c.req.valid('param').id, operatorContext(c).nowMs), 200))
}
