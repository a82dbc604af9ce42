import type { OpenAPIHono } from '@hono/zod-openapi'
import { SshKeys, SshKeysOrChangePlan, UpdateSshKeysRequest } from '../../../contract/accounts/ssh-keys.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planPutSshKeys } from '../../../services/accounts/dry-runs/plan-keys.ts'
import { getSshKeys, putSshKeys } from '../../../services/accounts/ssh-keys.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { json, ok, okOrPlan } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Account')

const getRoute = route('get', '/v2/account/ssh-keys', 'account:read', {
  operationId: 'getSshKeys',
  etagOf: 'set of keys',
  summary: "Read the account's SSH public keys",
  description:
    'Pods that are created with `startSsh` get the valid keys. A key becomes invalid when the user who added it leaves the account, or has a role that may not change the account.',
  responses: { 200: ok('The keys.', SshKeys) },
})

const putRoute = route('put', '/v2/account/ssh-keys', 'account:write', {
  operationId: 'putSshKeys',
  etagOf: 'set of keys',
  summary: 'Replace the whole set of SSH public keys; running pods keep theirs',
  description:
    'An empty list removes all keys. Each line is one key in the form of `authorized_keys`, without options. A key that was stored before stays with the user who added it; to assign it to another user, remove it first.',
  request: { query: DryRunQuery, body: json(UpdateSshKeysRequest) },
  responses: { 200: okOrPlan('The current keys.', SshKeysOrChangePlan) },
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
