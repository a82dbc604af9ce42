import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { ActingUser } from '../../../contract/accounts/accounts.ts'
import { getUser } from '../../../services/accounts/user.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const getRoute = createRoute({
  tags: ['Account'],
  security: BEARER,
  'x-scope': 'account:read',
  path: '/v2/user',
  method: 'get',
  operationId: 'getUser',
  summary: 'Read the current user: the user who signed in, or who created the key',
  description: 'The user whose limits and audit rows a call counts for, and the account that it acts for.',
  responses: { 200: ok('The user.', ActingUser), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

/** Registers `/v2/user` (ACC-7). */
export function registerUser(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getUser(verbContext(c)), 200))
}
