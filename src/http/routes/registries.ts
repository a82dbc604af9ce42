import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../contract/change-plan.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { CreateRegistryRequest, ListRegistriesResponse, Registry } from '../../contract/resources/registries.ts'
import { planDeleteRegistry } from '../../services/resources/plan-deletions.ts'
import * as registries from '../../services/resources/registries.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scoped } from '../middleware/scope.ts'
import { strictJson } from '../middleware/strict-json.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { BEARER, json, ok, PLANNED, RATE_HEADERS } from '../openapi/rest-components.ts'

const PATH = '/v2/registries'
const ITEM_PATH = '/v2/registries/{id}'
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Credential id.' }) })
const common = { tags: ['Registries'], security: BEARER }

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'listRegistries',
  summary: 'List all registry credentials, oldest first',
  description: 'User names and passwords are never shown. The list is complete and has no pages.',
  ...scoped('registries:read', []),
  responses: {
    200: ok('The credentials, without user names and passwords.', ListRegistriesResponse),
    ...problemResponses([401, 403, 429], RATE_HEADERS),
  },
})

const createRegistryRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'createRegistry',
  summary: 'Store a credential for private images',
  description:
    'It is stored encrypted, and pods, endpoints and templates refer to it by its id. A repeated `Idempotency-Key` returns the credential of the first call.',
  ...scoped('registries:write', [strictJson]),
  request: { body: json(CreateRegistryRequest), headers: CreateHeaders },
  responses: { 201: ok('The credential.', Registry), ...problemResponses([400, 401, 403, 409, 413, 415, 422, 429], RATE_HEADERS) },
})

const getRoute = createRoute({
  ...common,
  method: 'get',
  path: ITEM_PATH,
  operationId: 'getRegistry',
  etagOf: 'credential',
  summary: 'Read the name of a registry credential',
  description: 'User name and password are never shown.',
  ...scoped('registries:read', []),
  request: { params: Params },
  responses: { 200: ok('The credential.', Registry), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

const deleteRoute = createRoute({
  ...common,
  method: 'delete',
  path: ITEM_PATH,
  operationId: 'deleteRegistry',
  etagOf: 'credential',
  summary: 'Delete an unused credential; templates lose their reference to it',
  description: '400 while a live pod or an endpoint pulls with it.',
  ...scoped('registries:write', []),
  request: { params: Params, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Deleted.', headers: RATE_HEADERS },
    ...problemResponses([400, 401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/registries` (REG-1, REG-2). */
export function registerRegistries(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ registries: await registries.listRegistries(verbContext(c)) }, 200))
  app.openapi(createRegistryRoute, async (c) =>
    c.json(await registries.createRegistry(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201),
  )
  app.openapi(getRoute, async (c) => c.json(await registries.getRegistry(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDeleteRegistry(verbContext(c), id), 200)
    await registries.deleteRegistry(verbContext(c), id)
    return c.body(null, 204)
  })
}
