import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { UserLimits } from '../../../contract/accounts/user-limits.ts'
import { getUserLimits } from '../../../services/accounts/user-limits.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER } from '../../openapi/rest-components.ts'

const route = createRoute({
  tags: ['Accounts'],
  security: BEARER,
  method: 'get',
  path: '/admin/v1/users/{id}/limits',
  operationId: 'getUserLimits',
  summary: "What a user's account holds and spends, and the most that it may",
  description:
    'Requests a window, budgets and spend in force, from the plane or from the operator, each with its use. What is set for the user alone is elsewhere.',
  request: { params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'User id.' }) }) },
  responses: {
    200: { description: 'Use and bounds.', content: { 'application/json': { schema: UserLimits } } },
    ...problemResponses([401, 404]),
  },
})

/** Registers the limits of accounts in the operator API (UI-68). */
export function registerAdminLimits(app: OpenAPIHono<AppEnv>): void {
  app.openapi(route, async (c) => c.json(await getUserLimits(c.env, c.req.valid('param').id, operatorContext(c).nowMs), 200))
}
