import type { OpenAPIHono } from '@hono/zod-openapi'
import { ActingUser } from '../../../contract/accounts/accounts.ts'
import { getUser } from '../../../services/accounts/user.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scopedByVerb } from '../../middleware/scope.ts'
import { ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Account')

const getRoute = route('get', '/v2/user', scopedByVerb('account:read'), {
  operationId: 'getUser',
  summary: 'Read the current user: the user who signed in, or who created the key',
  description: 'The user whose limits and audit rows a call counts for, and the account that it acts for.',
  responses: { 200: ok('The user.', ActingUser) },
  problems: [404],
})

/** Registers `/v2/user` (ACC-7). */
export function registerUser(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getUser(verbContext(c)), 200))
}
