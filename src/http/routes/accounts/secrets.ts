import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateHeaders } from '../../../contract/idempotency-key.ts'
import {
  CreateSecretRequest,
  ListSecretsQuery,
  ListSecretsResponse,
  Secret,
  SecretOrChangePlan,
  UpdateSecretRequest,
} from '../../../contract/resources/secrets.ts'
import { planUpdateSecret } from '../../../services/resources/plan-changes.ts'
import { planDeleteSecret } from '../../../services/resources/plan-deletions.ts'
import * as secrets from '../../../services/resources/secrets.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { secretBody } from '../../middleware/secret-body.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, json, ok, okOrPlan, PLANNED, RATE_HEADERS } from '../../openapi/rest-components.ts'

const PATH = '/v2/account/secrets'
const ITEM_PATH = '/v2/account/secrets/{id}'
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Secret id.' }) })
const common = { tags: ['Account'], security: BEARER }

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'listSecrets',
  summary: 'List all secrets, newest first, or the one of a name; values are never shown',
  description: 'The list is complete and has no pages.',
  ...scoped('account:read', []),
  request: { query: ListSecretsQuery },
  responses: {
    200: ok('The secrets, without their values.', ListSecretsResponse),
    ...problemResponses([401, 403, 422, 429], RATE_HEADERS),
  },
})

const createSecretRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'createSecret',
  summary: 'Create a secret that the env of pods and workers can refer to',
  description: 'The env of a pod, template or endpoint refers to it as `{{ RUNPOD_SECRET_<name> }}`; the value is stored encrypted.',
  ...scoped('account:write', [secretBody, strictJson]),
  request: { body: json(CreateSecretRequest), headers: CreateHeaders },
  responses: {
    201: ok('The secret, without its value.', Secret),
    ...problemResponses([400, 401, 403, 409, 415, 422, 429], RATE_HEADERS),
  },
})

const getRoute = createRoute({
  ...common,
  method: 'get',
  path: ITEM_PATH,
  operationId: 'getSecret',
  etagOf: 'secret',
  summary: 'Read a secret without its value',
  description: 'Its name, description and times; no call shows the value.',
  ...scoped('account:read', []),
  request: { params: Params },
  responses: { 200: ok('The secret, without its value.', Secret), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

const updateRoute = createRoute({
  ...common,
  method: 'patch',
  path: ITEM_PATH,
  operationId: 'updateSecret',
  etagOf: 'secret',
  summary: 'Change the value or the description; later starts get the new value',
  description: 'The name never changes. Running containers keep the value that they started with.',
  ...scoped('account:write', [secretBody, strictJson]),
  request: { params: Params, query: DryRunQuery, body: json(UpdateSecretRequest) },
  responses: {
    200: okOrPlan('The changed secret, without its value.', SecretOrChangePlan),
    ...problemResponses([400, 401, 403, 404, 409, 415, 422, 429], RATE_HEADERS),
  },
})

const deleteRoute = createRoute({
  ...common,
  method: 'delete',
  path: ITEM_PATH,
  operationId: 'deleteSecret',
  etagOf: 'secret',
  summary: 'Delete a secret; later starts that refer to it get an empty string',
  description: 'Running containers continue.',
  ...scoped('account:write', []),
  request: { params: Params, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Deleted.', headers: RATE_HEADERS },
    ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/account/secrets` (ACC-2 to ACC-5). */
export function registerSecrets(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ secrets: await secrets.listSecrets(verbContext(c), c.req.valid('query').name) }, 200))
  app.openapi(createSecretRoute, async (c) =>
    c.json(await secrets.createSecret(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201),
  )
  app.openapi(getRoute, async (c) => c.json(await secrets.getSecret(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(updateRoute, async (c) => {
    const { id } = c.req.valid('param')
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await planUpdateSecret(verbContext(c), id, body), 200)
    return c.json(await secrets.updateSecret(verbContext(c), id, body), 200)
  })
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDeleteSecret(verbContext(c), id), 200)
    await secrets.deleteSecret(verbContext(c), id)
    return c.body(null, 204)
  })
}
