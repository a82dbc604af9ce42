import type { OpenAPIHono } from '@hono/zod-openapi'
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
import { SearchedPageQuery } from '../../../contract/list-query.ts'
import type { EndpointConfig } from '../../../domain/endpoint/record.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { readSettings } from '../../../env.ts'
import { withSpend } from '../../../services/billing/listed-spend.ts'
import { type EndpointBases, toEndpoint } from '../../../services/endpoints/endpoint-view.ts'
import * as endpoints from '../../../services/endpoints/endpoints.ts'
import { planDeleteEndpoint, planUpdateEndpoint } from '../../../services/endpoints/plan-endpoint.ts'
import { previewEndpoint } from '../../../services/endpoints/preview-endpoint.ts'
import { endOrPlan } from '../../answers/or-plan.ts'
import { type AppContext, type AppEnv, verbContext } from '../../app-env.ts'
import { endedOrPlan, idParams, json, ok, okOrPlan, plannedOrMade } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const PATH = '/v2/serverless'
const ITEM_PATH = '/v2/serverless/{id}'
const Params = idParams('Endpoint id.')
const route = restRoutes('Serverless')

const listRoute = route('get', PATH, 'serverless:read', {
  operationId: 'listEndpoints',
  summary: 'List endpoints',
  description: 'A page of the account, newest first by default; follow `pagination.nextCursor` for the next one.',
  request: { query: SearchedPageQuery },
  responses: { 200: ok('A page of endpoints.', ListEndpointsResponse) },
})

const createEndpointRoute = route('post', PATH, 'serverless:write', {
  operationId: 'createEndpoint',
  etagOf: 'endpoint',
  summary: 'Create an endpoint',
  description:
    'No worker runs before the first job unless `workers.min` is above 0. With `dryRun` nothing is created and the response contains the placement of a worker. A repeated `Idempotency-Key` returns the endpoint of the first call.',
  request: { body: json(CreateEndpointRequest), query: CreateEndpointQuery, headers: CreateHeaders },
  responses: {
    200: plannedOrMade('EndpointOrPlacementPreview', 'With `dryRun`: the placement of a worker.', EndpointPlacementPreview, Endpoint),
    201: ok('The endpoint.', Endpoint),
  },
  problems: [404, 409],
})

const getRoute = route('get', ITEM_PATH, 'serverless:read', {
  operationId: 'getEndpoint',
  etagOf: 'endpoint',
  summary: 'Read an endpoint',
  description: 'Its configuration and the URLs for jobs; the state of its workers is under `workers`.',
  request: { params: Params },
  responses: { 200: ok('The endpoint.', Endpoint) },
})

const updateRoute = route('patch', ITEM_PATH, 'serverless:write', {
  operationId: 'updateEndpoint',
  etagOf: 'endpoint',
  summary: 'Change an endpoint in place',
  description:
    'Omitted members stay unchanged. A change of the container or its placement creates a release and replaces workers one by one; other changes apply at once.',
  request: { params: Params, query: DryRunQuery, body: json(UpdateEndpointRequest) },
  responses: { 200: okOrPlan('The changed endpoint.', EndpointOrChangePlan) },
  problems: [409],
})

const deleteRoute = route('delete', ITEM_PATH, 'serverless:write', {
  operationId: 'deleteEndpoint',
  etagOf: 'endpoint',
  summary: 'Delete an endpoint: its workers end, its jobs are cancelled',
  description: 'Waiting and running jobs are cancelled, and stored results are deleted. It cannot be undone.',
  request: { params: Params, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
})

/** Registers `/v2/serverless` (END-1). */
export function registerServerless(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => {
    const ctx = verbContext(c)
    const { endpoints: configs, pagination, counts } = await endpoints.listEndpoints(ctx, c.req.valid('query'))
    const shown = await withSpend(ctx, 'ENDPOINT', configs.map(await viewer(c)))
    return c.json({ endpoints: shown, pagination, ...(counts && { counts }) }, 200)
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
  app.openapi(deleteRoute, (c) => endOrPlan(c, verbContext(c), planDeleteEndpoint, endpoints.deleteEndpoint))
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
