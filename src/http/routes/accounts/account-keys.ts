import type { OpenAPIHono } from '@hono/zod-openapi'
import { CreatedAccountKey, CreateKeyRequest, ListAccountKeysResponse, RotateKeyRequest } from '../../../contract/accounts/keys.ts'
import { ChangePlan, DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateHeaders } from '../../../contract/idempotency-key.ts'
import { planRevokeOwnKey, planRotateOwnKey } from '../../../services/accounts/dry-runs/plan-keys.ts'
import * as keys from '../../../services/accounts/own-keys.ts'
import { createOnce } from '../../answers/create-once.ts'
import { endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ENDS } from '../../middleware/ending.ts'
import { scopedByVerb } from '../../middleware/scope.ts'
import { endedOrPlan, idParams, json, ok, plannedOrMade } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const PATH = '/v2/account/keys'
const Params = idParams('Id of a key.')
const route = restRoutes('Account')
// A session may have keys of its own without the scope (TEAM-20).
const [READ, WRITE] = [scopedByVerb('account:read'), scopedByVerb('account:write')]

const listRoute = route('get', PATH, READ, {
  operationId: 'listAccountKeys',
  summary: 'List the API keys of the account, or your own',
  description: 'A caller without `account:write` sees only its own keys. Secrets are not shown again.',
  // Listing ends nothing, but it may use the reserve: a user must be able to find a stolen key (SHR-44).
  middleware: [ENDS],
  responses: { 200: ok('The keys, newest first.', ListAccountKeysResponse) },
})

const createKeyRoute = route('post', PATH, WRITE, {
  operationId: 'createAccountKey',
  summary: 'Create an API key for the account',
  description: 'The key is shown only in this response. It has no scope that its creator lacks.',
  request: { body: json(CreateKeyRequest), headers: CreateHeaders },
  responses: { 201: ok('The key, shown only once.', CreatedAccountKey) },
  problems: [409],
})

const rotateRoute = route('post', `${PATH}/{id}/rotate`, WRITE, {
  operationId: 'rotateAccountKey',
  summary: 'Rotate an own key; the previous key stays valid for some time',
  description: 'The previous key stays valid for `overlapSeconds`; a key can be rotated once.',
  request: { params: Params, query: DryRunQuery, body: json(RotateKeyRequest) },
  responses: {
    200: plannedOrMade('CreatedAccountKeyOrChangePlan', 'With `dryRun`: the effects of the change.', ChangePlan, CreatedAccountKey),
    201: ok('The new key, shown only once.', CreatedAccountKey),
  },
  problems: [409],
})

const revokeRoute = route('delete', `${PATH}/{id}`, WRITE, {
  operationId: 'revokeAccountKey',
  summary: 'Revoke a key; it is refused everywhere within 60 s',
  description: 'Open streams of the key end.',
  request: { params: Params, query: DryRunQuery },
  responses: endedOrPlan('Revoked.'),
})

/** Registers `/v2/account/keys` (TEAM-20 to TEAM-22). */
export function registerAccountKeys(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ keys: await keys.listOwnKeys(verbContext(c)) }, 200))
  app.openapi(createKeyRoute, (c) => createOnce(c, keys.createOwnKey))
  app.openapi(rotateRoute, async (c) => {
    const { id } = c.req.valid('param')
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await planRotateOwnKey(verbContext(c), id, body), 200)
    return c.json(await keys.rotateOwnKey(verbContext(c), id, body), 201)
  })
  app.openapi(revokeRoute, (c) => endOrPlan(c, verbContext(c), planRevokeOwnKey, keys.revokeOwnKey))
}
