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
  summary: 'The user who acts: who has signed in, or who made the key',
  description: 'Whose limits and audit rows a call counts for, and the account that it acts in.',
  responses: { 200: ok('The user.', ActingUser) },
  problems: [404],
})

/** Registers `/v2/user` (ACC-7). */
export function registerUser(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getUser(verbContext(c)), 200))
}
