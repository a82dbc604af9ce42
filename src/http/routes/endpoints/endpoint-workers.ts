import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { BuildsQuery, ListBuildsResponse, ListReleasesResponse } from '../../../contract/endpoints/releases.ts'
import { ListScalingResponse } from '../../../contract/endpoints/scaling.ts'
import { ListWorkersResponse } from '../../../contract/endpoints/workers.ts'
import { PageQuery } from '../../../contract/pagination.ts'
import * as endpointWorkers from '../../../services/endpoints/endpoint-workers.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Endpoint id.' }) })
const common = { tags: ['Serverless'], security: BEARER, ...scoped('serverless:read', []) }

const workersRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/serverless/{id}/workers',
  operationId: 'listEndpointWorkers',
  summary: 'List the active workers of an endpoint',
  description: 'Workers that start, run, idle or are throttled, and the number of each kind.',
  request: { params: Params },
  responses: { 200: ok('The workers.', ListWorkersResponse), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

const releasesRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/serverless/{id}/releases',
  operationId: 'listEndpointReleases',
  summary: 'List the releases of an endpoint, newest first, with the progress of the rollout',
  description: 'A release is one configuration of the workers; `rollout` has the number of workers with the newest.',
  request: { params: Params, query: PageQuery },
  responses: { 200: ok('A page of releases.', ListReleasesResponse), ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS) },
})

const buildsRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/serverless/{id}/builds',
  operationId: 'listEndpointBuilds',
  summary: 'List the builds of an endpoint: always empty, because images are built elsewhere',
  description: 'For compatibility with clients that call it.',
  request: { params: Params, query: BuildsQuery },
  responses: { 200: ok('An empty page.', ListBuildsResponse), ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS) },
})

const scalingRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/serverless/{id}/scaling',
  operationId: 'listScalingDecisions',
  summary: 'List the scaling decisions with a change, newest first',
  description: 'Each decision has its inputs, which explain the number of workers.',
  request: { params: Params },
  responses: { 200: ok('The decisions.', ListScalingResponse), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

/** Registers the workers, releases, builds and scaling decisions of an endpoint (END-13 to END-15). */
export function registerEndpointWorkers(app: OpenAPIHono<AppEnv>): void {
  app.openapi(workersRoute, async (c) => c.json(await endpointWorkers.listWorkers(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(releasesRoute, async (c) =>
    c.json(await endpointWorkers.listReleases(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200),
  )
  app.openapi(buildsRoute, async (c) =>
    c.json(await endpointWorkers.listBuilds(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200),
  )
  app.openapi(scalingRoute, async (c) => c.json(await endpointWorkers.listScalingDecisions(verbContext(c), c.req.valid('param').id), 200))
}
