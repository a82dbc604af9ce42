import type { OpenAPIHono } from '@hono/zod-openapi'
import { CreateUserRequest, ListUsersResponse, Quotas, QuotasOrChangePlan, User, UserQuery } from '../../../contract/accounts/accounts.ts'
import { CreatedKey, CreateKeyRequest, ListKeysResponse } from '../../../contract/accounts/keys.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import * as accounts from '../../../services/accounts/accounts.ts'
import { planQuotas, planResetQuotas } from '../../../services/accounts/dry-runs/plan-account.ts'
import { planRevokeKey } from '../../../services/accounts/dry-runs/plan-keys.ts'
import * as keys from '../../../services/accounts/keys.ts'
import { changeOrPlan, endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorEndedOrPlan, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const Params = idParams('Id of the user, or of the key.')
const route = operatorRoutes('Accounts')

const createUserRoute = route('post', '/admin/v1/users', {
  operationId: 'createUser',
  summary: 'Create a user with a personal team',
  description: 'Keys are created separately, and no message is sent to the address.',
  request: { body: json(CreateUserRequest) },
  responses: { 201: answer('The user.', User) },
  problems: [409],
})

const listUsersRoute = route('get', '/admin/v1/users', {
  operationId: 'listUsers',
  summary: 'Find users',
  description: 'A page of all users, or the user with the address of the query.',
  request: { query: UserQuery },
  responses: { 200: answer('At most 1000 users, by address.', ListUsersResponse) },
})

const createKeyRoute = route('post', '/admin/v1/users/{id}/keys', {
  operationId: 'createKey',
  summary: 'Create an API key',
  description: 'The key is shown only in this response.',
  request: { params: Params, body: json(CreateKeyRequest) },
  responses: { 201: answer('The key, shown only once.', CreatedKey) },
})

const listKeysRoute = route('get', '/admin/v1/users/{id}/keys', {
  operationId: 'listKeys',
  summary: "List a user's keys, without secrets",
  description: 'The list includes revoked and expired keys.',
  request: { params: Params },
  responses: { 200: answer('Newest first.', ListKeysResponse) },
})

const revokeKeyRoute = route('delete', '/admin/v1/keys/{id}', {
  operationId: 'revokeKey',
  summary: 'Revoke a key; it is refused everywhere within 60 seconds',
  description: 'Open streams of the key end.',
  request: { params: Params, query: DryRunQuery },
  responses: operatorEndedOrPlan('Revoked.'),
})

const setQuotasRoute = route('put', '/admin/v1/users/{id}/quotas', {
  operationId: 'setQuotas',
  summary: "Override a user's request quotas; in force within 60 seconds",
  description: 'Requests of REST v2 per minute, hour and day; `exempt` removes these quotas and the limits of the job API.',
  request: { params: Params, query: DryRunQuery, body: json(Quotas) },
  responses: { 200: operatorOkOrPlan('The current quotas.', QuotasOrChangePlan) },
})

const resetQuotasRoute = route('delete', '/admin/v1/users/{id}/quotas', {
  operationId: 'resetQuotas',
  summary: "Remove a user's request quotas, so that those of the plan apply",
  description: 'In force within 60 seconds. A repeated call changes nothing.',
  request: { params: Params, query: DryRunQuery },
  responses: operatorEndedOrPlan('The quotas are removed.'),
})

/** Registers users, keys and quotas of the operator API (AUT-4a). */
export function registerAdminAccounts(app: OpenAPIHono<AppEnv>): void {
  app.openapi(createUserRoute, async (c) => c.json(await accounts.createUser(operatorContext(c), c.req.valid('json').email), 201))
  app.openapi(listUsersRoute, async (c) => c.json({ users: await accounts.listUsers(c.env, c.req.valid('query').email) }, 200))
  app.openapi(createKeyRoute, async (c) =>
    c.json(await keys.createKey(operatorContext(c), c.req.valid('param').id, c.req.valid('json')), 201),
  )
  app.openapi(listKeysRoute, async (c) => c.json({ keys: await keys.listKeys(c.env, c.req.valid('param').id) }, 200))
  app.openapi(revokeKeyRoute, (c) => endOrPlan(c, operatorContext(c), planRevokeKey, keys.revokeKey))
  app.openapi(setQuotasRoute, (c) => changeOrPlan(c, operatorContext(c), planQuotas, accounts.setQuotas))
  app.openapi(resetQuotasRoute, (c) => endOrPlan(c, operatorContext(c), planResetQuotas, accounts.resetQuotas))
}
