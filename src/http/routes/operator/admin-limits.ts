import type { OpenAPIHono } from '@hono/zod-openapi'
import { UserLimits } from '../../../contract/accounts/user-limits.ts'
import { getUserLimits } from '../../../services/accounts/user-limits.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Accounts')

const getRoute = route('get', '/admin/v1/users/{id}/limits', {
  operationId: 'getUserLimits',
  summary: "Read the use and the limits of a user's account",
  description:
    'The effective request windows, budgets and spend limits, each with its use. The overrides of the user have operations of their own.',
  request: { params: idParams('User id.') },
  responses: { 200: answer('Use and limits.', UserLimits) },
})

/** Registers the limits of accounts in the operator API (UI-68). */
export function registerAdminLimits(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getUserLimits(c.env, c.req.valid('param').id, operatorContext(c).nowMs), 200))
}
