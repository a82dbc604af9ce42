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
  summary: "Read the use and the limits of a user's account",
  description:
    'The effective request windows, budgets and spend limits, each with its use. The overrides of the user have operations of their own.',
  request: { params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'User id.' }) }) },
  responses: {
    200: { description: 'Use and limits.', content: { 'application/json': { schema: UserLimits } } },
    ...problemResponses([401, 404]),
  },
})

/** Registers the limits of accounts in the operator API (UI-68). */
export function registerAdminLimits(app: OpenAPIHono<AppEnv>): void {
  app.openapi(route, async (c) => c.json(await getUserLimits(c.env, c.req.valid('param').id, operatorContext(c).nowMs), 200))
}
