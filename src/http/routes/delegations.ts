import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../contract/change-plan.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { CreateDelegationRequest, EcrDelegation, ListDelegationsResponse } from '../../contract/resources/delegations.ts'
import * as delegations from '../../services/resources/delegations.ts'
import { planRevokeDelegation } from '../../services/resources/plan-deletions.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scoped } from '../middleware/scope.ts'
import { strictJson } from '../middleware/strict-json.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { BEARER, json, ok, PLANNED, RATE_HEADERS } from '../openapi/rest-components.ts'

const PATH = '/v2/registries/delegations'
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Delegation id.' }) })
const common = { tags: ['Registries'], security: BEARER }

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'listDelegations',
  summary: 'List the delegations of ECR repositories, newest first',
  description: 'The list is complete and has no pages.',
  ...scoped('registries:read', []),
  responses: { 200: ok('The delegations.', ListDelegationsResponse), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const createDelegationRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'createDelegation',
  summary: 'Create a delegation: pull from an ECR repository without a stored credential',
  description: 'The repository grants the access; the plane obtains a token for each pull when a container starts.',
  ...scoped('registries:write', [strictJson]),
  request: { body: json(CreateDelegationRequest), headers: CreateHeaders },
  responses: { 201: ok('The delegation.', EcrDelegation), ...problemResponses([400, 401, 403, 409, 413, 415, 422, 429], RATE_HEADERS) },
})

const revokeRoute = createRoute({
  ...common,
  method: 'delete',
  path: `${PATH}/{id}`,
  operationId: 'revokeDelegation',
  summary: 'Revoke a delegation: the next start pulls without it',
  description: 'Running containers continue.',
  ...scoped('registries:write', []),
  request: { params: Params, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Revoked.', headers: RATE_HEADERS },
    ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/registries/delegations` (REG-3). Register it before `/v2/registries/{id}`, which would match the word as an id. */
export function registerDelegations(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ delegations: await delegations.listDelegations(verbContext(c)) }, 200))
  app.openapi(createDelegationRoute, async (c) =>
    c.json(await delegations.createDelegation(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201),
  )
  app.openapi(revokeRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planRevokeDelegation(verbContext(c), id), 200)
    await delegations.revokeDelegation(verbContext(c), id)
    return c.body(null, 204)
  })
}
