import type { OpenAPIHono } from '@hono/zod-openapi'
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
import { createOnce } from '../../answers/create-once.ts'
import { changeOrPlan, endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { secretBody } from '../../middleware/secret-body.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { endedOrPlan, idParams, json, ok, okOrPlan } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const PATH = '/v2/account/secrets'
const ITEM_PATH = '/v2/account/secrets/{id}'
const Params = idParams('Secret id.')
const route = restRoutes('Account')

const listRoute = route('get', PATH, 'account:read', {
  operationId: 'listSecrets',
  summary: 'List all secrets, newest first, or the one of a name; values are never shown',
  description: 'The list is complete and has no pages.',
  request: { query: ListSecretsQuery },
  responses: { 200: ok('The secrets, without their values.', ListSecretsResponse) },
})

const createSecretRoute = route('post', PATH, 'account:write', {
  operationId: 'createSecret',
  summary: 'Create a secret that the env of pods and workers can refer to',
  description: 'The env of a pod, template or endpoint refers to it as `{{ RUNPOD_SECRET_<name> }}`; the value is stored encrypted.',
  middleware: [secretBody, strictJson],
  request: { body: json(CreateSecretRequest), headers: CreateHeaders },
  responses: { 201: ok('The secret, without its value.', Secret) },
  problems: [409],
})

const getRoute = route('get', ITEM_PATH, 'account:read', {
  operationId: 'getSecret',
  etagOf: 'secret',
  summary: 'Read a secret without its value',
  description: 'Its name, description and times; no call shows the value.',
  request: { params: Params },
  responses: { 200: ok('The secret, without its value.', Secret) },
})

const updateRoute = route('patch', ITEM_PATH, 'account:write', {
  operationId: 'updateSecret',
  etagOf: 'secret',
  summary: 'Change the value or the description; later starts get the new value',
  description: 'The name never changes. Running containers keep the value that they started with.',
  middleware: [secretBody, strictJson],
  request: { params: Params, query: DryRunQuery, body: json(UpdateSecretRequest) },
  responses: { 200: okOrPlan('The changed secret, without its value.', SecretOrChangePlan) },
  problems: [409],
})

const deleteRoute = route('delete', ITEM_PATH, 'account:write', {
  operationId: 'deleteSecret',
  etagOf: 'secret',
  summary: 'Delete a secret; later starts that refer to it get an empty string',
  description: 'Running containers continue.',
  request: { params: Params, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
})

/** Registers `/v2/account/secrets` (ACC-2 to ACC-5). */
export function registerSecrets(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ secrets: await secrets.listSecrets(verbContext(c), c.req.valid('query').name) }, 200))
  app.openapi(createSecretRoute, (c) => createOnce(c, secrets.createSecret))
  app.openapi(getRoute, async (c) => c.json(await secrets.getSecret(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(updateRoute, (c) => changeOrPlan(c, verbContext(c), planUpdateSecret, secrets.updateSecret))
  app.openapi(deleteRoute, (c) => endOrPlan(c, verbContext(c), planDeleteSecret, secrets.deleteSecret))
}
