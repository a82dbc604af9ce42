import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { SshKeys, SshKeysOrChangePlan, UpdateSshKeysRequest } from '../../../contract/accounts/ssh-keys.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planPutSshKeys } from '../../../services/accounts/dry-runs/plan-keys.ts'
import { getSshKeys, putSshKeys } from '../../../services/accounts/ssh-keys.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, json, ok, okOrPlan, RATE_HEADERS } from '../../openapi/rest-components.ts'

const common = { tags: ['Account'], security: BEARER, path: '/v2/account/ssh-keys' }

const getRoute = createRoute({
  ...common,
  method: 'get',
  operationId: 'getSshKeys',
  etagOf: 'set of keys',
  summary: "Read the account's SSH public keys",
  description:
    'Pods that are created with `startSsh` get the valid keys. A key becomes invalid when the user who added it leaves the account, or has a role that may not change the account.',
  ...scoped('account:read', []),
  responses: { 200: ok('The keys.', SshKeys), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const putRoute = createRoute({
  ...common,
  method: 'put',
  operationId: 'putSshKeys',
  etagOf: 'set of keys',
  summary: 'Replace the whole set of SSH public keys; running pods keep theirs',
  description:
    'An empty list removes all keys. Each line is one key in the form of `authorized_keys`, without options. A key that was stored before stays with the user who added it; to assign it to another user, remove it first.',
  ...scoped('account:write', [strictJson]),
  request: { query: DryRunQuery, body: json(UpdateSshKeysRequest) },
  responses: {
    200: okOrPlan('The current keys.', SshKeysOrChangePlan),
    ...problemResponses([400, 401, 403, 413, 415, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/account/ssh-keys` (ACC-1). */
export function registerSshKeys(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getRoute, async (c) => c.json(await getSshKeys(verbContext(c)), 200))
  app.openapi(putRoute, async (c) => {
    const { keys } = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await planPutSshKeys(verbContext(c), keys), 200)
    return c.json(await putSshKeys(verbContext(c), keys), 200)
  })
}
