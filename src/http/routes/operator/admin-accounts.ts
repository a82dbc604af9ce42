import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { CreateUserRequest, ListUsersResponse, Quotas, QuotasOrChangePlan, User, UserQuery } from '../../../contract/accounts/accounts.ts'
import { CreatedKey, CreateKeyRequest, ListKeysResponse } from '../../../contract/accounts/keys.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import * as accounts from '../../../services/accounts/accounts.ts'
import { planQuotas, planResetQuotas } from '../../../services/accounts/dry-runs/plan-account.ts'
import { planRevokeKey } from '../../../services/accounts/dry-runs/plan-keys.ts'
import * as keys from '../../../services/accounts/keys.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, operatorOkOrPlan, PLANNED_FOR_OPERATOR } from '../../openapi/rest-components.ts'

const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Id of the user, or of the key.' }) })
const common = { tags: ['Accounts'], security: BEARER }
const withBody = { ...common, middleware: strictJson }

const createUserRoute = createRoute({
  ...withBody,
  method: 'post',
  path: '/admin/v1/users',
  operationId: 'createUser',
  summary: 'Create a user with a personal team',
  description: 'Keys are created separately, and no message is sent to the address.',
  request: { body: { required: true, content: { 'application/json': { schema: CreateUserRequest } } } },
  responses: {
    201: { description: 'The user.', content: { 'application/json': { schema: User } } },
    ...problemResponses([400, 401, 409, 413, 415, 422]),
  },
})

const listUsersRoute = createRoute({
  ...common,
  method: 'get',
  path: '/admin/v1/users',
  operationId: 'listUsers',
  summary: 'Find users',
  description: 'A page of all users, or the user with the address of the query.',
  request: { query: UserQuery },
  responses: {
    200: { description: 'At most 1000 users, by address.', content: { 'application/json': { schema: ListUsersResponse } } },
    ...problemResponses([401, 422]),
  },
})

const createKeyRoute = createRoute({
  ...withBody,
  method: 'post',
  path: '/admin/v1/users/{id}/keys',
  operationId: 'createKey',
  summary: 'Create an API key',
  description: 'The key is shown only in this response.',
  request: { params: Params, body: { required: true, content: { 'application/json': { schema: CreateKeyRequest } } } },
  responses: {
    201: { description: 'The key, shown only once.', content: { 'application/json': { schema: CreatedKey } } },
    ...problemResponses([400, 401, 404, 413, 415, 422]),
  },
})

const listKeysRoute = createRoute({
  ...common,
  method: 'get',
  path: '/admin/v1/users/{id}/keys',
  operationId: 'listKeys',
  summary: "List a user's keys, without secrets",
  description: 'The list includes revoked and expired keys.',
  request: { params: Params },
  responses: {
    200: { description: 'Newest first.', content: { 'application/json': { schema: ListKeysResponse } } },
    ...problemResponses([401, 404]),
  },
})

const revokeKeyRoute = createRoute({
  ...common,
  method: 'delete',
  path: '/admin/v1/keys/{id}',
  operationId: 'revokeKey',
  summary: 'Revoke a key; it is refused everywhere within 60 seconds',
  description: 'Open streams of the key end.',
  request: { params: Params, query: DryRunQuery },
  responses: { 200: PLANNED_FOR_OPERATOR, 204: { description: 'Revoked.' }, ...problemResponses([401, 404, 422]) },
})

const setQuotasRoute = createRoute({
  ...withBody,
  method: 'put',
  path: '/admin/v1/users/{id}/quotas',
  operationId: 'setQuotas',
  summary: "Override a user's request quotas; in force within 60 seconds",
  description: 'Requests of REST v2 per minute, hour and day; `exempt` removes these quotas and the limits of the job API.',
  request: { params: Params, query: DryRunQuery, body: { required: true, content: { 'application/json': { schema: Quotas } } } },
  responses: {
    200: operatorOkOrPlan('The current quotas.', QuotasOrChangePlan),
    ...problemResponses([400, 401, 404, 413, 415, 422]),
  },
})

const resetQuotasRoute = createRoute({
  ...common,
  method: 'delete',
  path: '/admin/v1/users/{id}/quotas',
  operationId: 'resetQuotas',
  summary: "Remove a user's request quotas, so that those of the plan apply",
  description: 'In force within 60 seconds. A repeated call changes nothing.',
  request: { params: Params, query: DryRunQuery },
  responses: { 200: PLANNED_FOR_OPERATOR, 204: { description: 'The quotas are removed.' }, ...problemResponses([401, 404, 422]) },
})

/** Registers users, keys and quotas of the operator API (AUT-4a). */
export function registerAdminAccounts(app: OpenAPIHono<AppEnv>): void {
  app.openapi(createUserRoute, async (c) => c.json(await accounts.createUser(operatorContext(c), c.req.valid('json').email), 201))
  app.openapi(listUsersRoute, async (c) => c.json({ users: await accounts.listUsers(c.env, c.req.valid('query').email) }, 200))
  app.openapi(createKeyRoute, async (c) =>
    c.json(await keys.createKey(operatorContext(c), c.req.valid('param').id, c.req.valid('json')), 201),
  )
  app.openapi(listKeysRoute, async (c) => c.json({ keys: await keys.listKeys(c.env, c.req.valid('param').id) }, 200))
  app.openapi(revokeKeyRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planRevokeKey(operatorContext(c), id), 200)
    await keys.revokeKey(operatorContext(c), id)
    return c.body(null, 204)
  })
  app.openapi(setQuotasRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planQuotas(operatorContext(c), id, c.req.valid('json')), 200)
    return c.json(await accounts.setQuotas(operatorContext(c), id, c.req.valid('json')), 200)
  })
  app.openapi(resetQuotasRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planResetQuotas(operatorContext(c), id), 200)
    await accounts.resetQuotas(operatorContext(c), id)
    return c.body(null, 204)
  })
}
