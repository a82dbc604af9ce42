import type { OpenAPIHono } from '@hono/zod-openapi'
import { BuildsQuery, ListBuildsResponse, ListReleasesResponse } from '../../../contract/endpoints/releases.ts'
import { ListScalingResponse } from '../../../contract/endpoints/scaling.ts'
import { ListWorkersResponse } from '../../../contract/endpoints/workers.ts'
import { PageQuery } from '../../../contract/pagination.ts'
import * as endpointWorkers from '../../../services/endpoints/endpoint-workers.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { idParams, ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const Params = idParams('Endpoint id.')
const route = restRoutes('Serverless')

const workersRoute = route('get', '/v2/serverless/{id}/workers', 'serverless:read', {
  operationId: 'listEndpointWorkers',
  summary: 'List the active workers of an endpoint',
  description: 'Workers that start, run, idle or are throttled, and the number of each kind.',
  request: { params: Params },
  responses: { 200: ok('The workers.', ListWorkersResponse) },
})

const releasesRoute = route('get', '/v2/serverless/{id}/releases', 'serverless:read', {
  operationId: 'listEndpointReleases',
  summary: 'List the releases of an endpoint, newest first, with the progress of the rollout',
  description: 'A release is one configuration of the workers; `rollout` has the number of workers with the newest.',
  request: { params: Params, query: PageQuery },
  responses: { 200: ok('A page of releases.', ListReleasesResponse) },
})

const buildsRoute = route('get', '/v2/serverless/{id}/builds', 'serverless:read', {
  operationId: 'listEndpointBuilds',
  summary: 'List the builds of an endpoint: always empty, because images are built elsewhere',
  description: 'For compatibility with clients that call it.',
  request: { params: Params, query: BuildsQuery },
  responses: { 200: ok('An empty page.', ListBuildsResponse) },
})

const scalingRoute = route('get', '/v2/serverless/{id}/scaling', 'serverless:read', {
  operationId: 'listScalingDecisions',
  summary: 'List the scaling decisions with a change, newest first',
  description: 'Each decision has its inputs, which explain the number of workers.',
  request: { params: Params },
  responses: { 200: ok('The decisions.', ListScalingResponse) },
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
