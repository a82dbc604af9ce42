import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { CreatedAccountKey, CreateKeyRequest, ListAccountKeysResponse, RotateKeyRequest } from '../../../contract/accounts/keys.ts'
import { ChangePlan, DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateHeaders } from '../../../contract/idempotency-key.ts'
import { planRevokeOwnKey, planRotateOwnKey } from '../../../services/accounts/dry-runs/plan-keys.ts'
import * as keys from '../../../services/accounts/own-keys.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ENDS } from '../../middleware/ending.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, json, ok, PLANNED, plannedOrMade, RATE_HEADERS } from '../../openapi/rest-components.ts'

const PATH = '/v2/account/keys'
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Id of a key.' }) })
// The verbs check the scope: a session may have keys of its own without it (TEAM-20).
const common = { tags: ['Account'], security: BEARER }
const changing = { ...common, 'x-scope': 'account:write' }

const listRoute = createRoute({
  ...common,
  'x-scope': 'account:read',
  method: 'get',
  path: PATH,
  operationId: 'listAccountKeys',
  summary: 'List the API keys of the account, or your own',
  description: 'A caller without `account:write` sees only its own keys. Secrets are not shown again.',
  // Listing ends nothing, but it may use the reserve: a user must be able to find a stolen key (SHR-44).
  middleware: [ENDS] as const,
  responses: { 200: ok('The keys, newest first.', ListAccountKeysResponse), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const createKeyRoute = createRoute({
  ...changing,
  method: 'post',
  path: PATH,
  operationId: 'createAccountKey',
  summary: 'Create an API key for the account',
  description: 'The key is shown only in this response. It has no scope that its creator lacks.',
  middleware: [strictJson] as const,
  request: { body: json(CreateKeyRequest), headers: CreateHeaders },
  responses: {
    201: ok('The key, shown only once.', CreatedAccountKey),
    ...problemResponses([400, 401, 403, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const rotateRoute = createRoute({
  ...changing,
  method: 'post',
  path: `${PATH}/{id}/rotate`,
  operationId: 'rotateAccountKey',
  summary: 'Rotate an own key; the previous key stays valid for some time',
  description: 'The previous key stays valid for `overlapSeconds`; a key can be rotated once.',
  middleware: [strictJson] as const,
  request: { params: Params, query: DryRunQuery, body: json(RotateKeyRequest) },
  responses: {
    200: plannedOrMade('CreatedAccountKeyOrChangePlan', 'With `dryRun`: the effects of the change.', ChangePlan, CreatedAccountKey),
    201: ok('The new key, shown only once.', CreatedAccountKey),
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const revokeRoute = createRoute({
  ...changing,
  method: 'delete',
  path: `${PATH}/{id}`,
  operationId: 'revokeAccountKey',
  summary: 'Revoke a key; it is refused everywhere within 60 s',
  description: 'Open streams of the key end.',
  request: { params: Params, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Revoked.', headers: RATE_HEADERS },
    ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/account/keys` (TEAM-20 to TEAM-22). */
export function registerAccountKeys(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ keys: await keys.listOwnKeys(verbContext(c)) }, 200))
  app.openapi(createKeyRoute, async (c) =>
    c.json(await keys.createOwnKey(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201),
  )
  app.openapi(rotateRoute, async (c) => {
    const { id } = c.req.valid('param')
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await planRotateOwnKey(verbContext(c), id, body), 200)
    return c.json(await keys.rotateOwnKey(verbContext(c), id, body), 201)
  })
  app.openapi(revokeRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planRevokeOwnKey(verbContext(c), id), 200)
    await keys.revokeOwnKey(verbContext(c), id)
    return c.body(null, 204)
  })
}
