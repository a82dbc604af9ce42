import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import {
  CreateEndpointRequest,
  Endpoint,
  EndpointOrChangePlan,
  ListEndpointsResponse,
  UpdateEndpointRequest,
} from '../../../contract/endpoints/endpoints.ts'
import { CreateEndpointQuery, EndpointPlacementPreview } from '../../../contract/endpoints/placement-preview.ts'
import { CreateHeaders } from '../../../contract/idempotency-key.ts'
import { PageQuery } from '../../../contract/pagination.ts'
import type { EndpointConfig } from '../../../domain/endpoint/record.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { readSettings } from '../../../env.ts'
import { withSpend } from '../../../services/billing/listed-spend.ts'
import { type EndpointBases, toEndpoint } from '../../../services/endpoints/endpoint-view.ts'
import * as endpoints from '../../../services/endpoints/endpoints.ts'
import { planDeleteEndpoint, planUpdateEndpoint } from '../../../services/endpoints/plan-endpoint.ts'
import { previewEndpoint } from '../../../services/endpoints/preview-endpoint.ts'
import { type AppContext, type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, json, ok, okOrPlan, PLANNED, plannedOrMade, RATE_HEADERS } from '../../openapi/rest-components.ts'

const PATH = '/v2/serverless'
const ITEM_PATH = '/v2/serverless/{id}'
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Endpoint id.' }) })
const common = { tags: ['Serverless'], security: BEARER }

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'listEndpoints',
  summary: 'List endpoints, newest first',
  description: 'A page of the account; follow `pagination.nextCursor` for the next one.',
  ...scoped('serverless:read', []),
  request: { query: PageQuery },
  responses: { 200: ok('A page of endpoints.', ListEndpointsResponse), ...problemResponses([401, 403, 422, 429], RATE_HEADERS) },
})

const createEndpointRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'createEndpoint',
  etagOf: 'endpoint',
  summary: 'Create an endpoint',
  description:
    'No worker runs before the first job unless `workers.min` is above 0. With `dryRun` nothing is created and the response contains the placement of a worker. A repeated `Idempotency-Key` returns the endpoint of the first call.',
  ...scoped('serverless:write', [strictJson]),
  request: { body: json(CreateEndpointRequest), query: CreateEndpointQuery, headers: CreateHeaders },
  responses: {
    200: plannedOrMade('EndpointOrPlacementPreview', 'With `dryRun`: the placement of a worker.', EndpointPlacementPreview, Endpoint),
    201: ok('The endpoint.', Endpoint),
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const getRoute = createRoute({
  ...common,
  method: 'get',
  path: ITEM_PATH,
  operationId: 'getEndpoint',
  etagOf: 'endpoint',
  summary: 'Read an endpoint',
  description: 'Its configuration and the URLs for jobs; the state of its workers is under `workers`.',
  ...scoped('serverless:read', []),
  request: { params: Params },
  responses: { 200: ok('The endpoint.', Endpoint), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

const updateRoute = createRoute({
  ...common,
  method: 'patch',
  path: ITEM_PATH,
  operationId: 'updateEndpoint',
  etagOf: 'endpoint',
  summary: 'Change an endpoint in place',
  description:
    'Omitted members stay unchanged. A change of the container or its placement creates a release and replaces workers one by one; other changes apply at once.',
  ...scoped('serverless:write', [strictJson]),
  request: { params: Params, query: DryRunQuery, body: json(UpdateEndpointRequest) },
  responses: {
    200: okOrPlan('The changed endpoint.', EndpointOrChangePlan),
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const deleteRoute = createRoute({
  ...common,
  method: 'delete',
  path: ITEM_PATH,
  operationId: 'deleteEndpoint',
  etagOf: 'endpoint',
  summary: 'Delete an endpoint: its workers end, its jobs are cancelled',
  description: 'Waiting and running jobs are cancelled, and stored results are deleted. It cannot be undone.',
  ...scoped('serverless:write', []),
  request: { params: Params, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Deleted.', headers: RATE_HEADERS },
    ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/serverless` (END-1). */
export function registerServerless(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => {
    const ctx = verbContext(c)
    const { endpoints: configs, pagination } = await endpoints.listEndpoints(ctx, c.req.valid('query'))
    return c.json({ endpoints: await withSpend(ctx, 'ENDPOINT', configs.map(await viewer(c))), pagination }, 200)
  })
  app.openapi(createEndpointRoute, async (c) => {
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await previewEndpoint(verbContext(c), body), 200)
    const config = await endpoints.createEndpoint(verbContext(c), body, c.req.valid('header')['Idempotency-Key'])
    return c.json((await viewer(c))(config), 201)
  })
  app.openapi(getRoute, async (c) => {
    const config = await endpoints.getEndpoint(verbContext(c), c.req.valid('param').id)
    return c.json((await viewer(c))(config), 200)
  })
  app.openapi(updateRoute, async (c) => {
    const { id } = c.req.valid('param')
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await planUpdateEndpoint(verbContext(c), id, body), 200)
    const config = await endpoints.updateEndpoint(verbContext(c), id, body)
    return c.json((await viewer(c))(config), 200)
  })
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDeleteEndpoint(verbContext(c), id), 200)
    await endpoints.deleteEndpoint(verbContext(c), id)
    return c.body(null, 204)
  })
}

async function viewer(c: AppContext): Promise<(config: EndpointConfig) => Endpoint> {
  const catalog = await loadCatalog(c.env)
  return (config) => toEndpoint(catalog, config, basesOf(c))
}

/** Base addresses of endpoints: the operator's settings, else the origin of the request (CFG-1). */
function basesOf(c: AppContext): EndpointBases {
  const { serverlessUrl, lbDomain } = readSettings(c.env)
  return { serverlessUrl: (serverlessUrl ?? new URL(c.req.url).origin).replace(/\/+$/, ''), lbDomain }
}
