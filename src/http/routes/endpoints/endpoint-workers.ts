import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { BuildsQuery, ListBuildsResponse, ListReleasesResponse } from '../../../contract/endpoints/releases.ts'
import { ListScalingResponse } from '../../../contract/endpoints/scaling.ts'
import { ListWorkersResponse } from '../../../contract/endpoints/workers.ts'
import { LogLinesQuery, LogLinesResponse } from '../../../contract/logs/lines.ts'
import { MergedLinesQuery, MergedLinesResponse } from '../../../contract/logs/merged.ts'
import { LogHeaders, LogQuery } from '../../../contract/logs/stream.ts'
import { PageQuery } from '../../../contract/pagination.ts'
import * as endpointWorkers from '../../../services/endpoints/endpoint-workers.ts'
import { readEndpointLines } from '../../../services/logs/endpoint-logs.ts'
import { followWorkerLog, readWorkerLines } from '../../../services/logs/worker-logs.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { idParams, ok, pathParam } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'
import { LINES_TEXT, LOG_RESPONSES, linesAnswers, logResponse, readingOf } from '../log-stream.ts'

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

const WorkerParams = z.object({
  id: pathParam('id', 'Endpoint id.'),
  workerId: pathParam('workerId', 'Worker id.'),
})

const logsRoute = route('get', '/v2/serverless/{id}/workers/{workerId}/logs', 'serverless:read', {
  operationId: 'getWorkerLogs',
  summary: 'Stream the log of a worker: its newest lines, then every new line',
  description: 'Server-sent events. `Last-Event-ID` resumes after an event; a stream ends after an hour.',
  request: { params: WorkerParams, query: LogQuery, headers: LogHeaders },
  responses: LOG_RESPONSES,
})

const linesRoute = route('get', '/v2/serverless/{id}/workers/{workerId}/logs/lines', 'serverless:read', {
  operationId: 'listWorkerLogLines',
  summary: 'Read or search the log of a worker, by pages',
  description: LINES_TEXT,
  request: { params: WorkerParams, query: LogLinesQuery },
  ...linesAnswers(LogLinesResponse),
})

const mergedRoute = route('get', '/v2/serverless/{id}/logs/lines', 'serverless:read', {
  operationId: 'listEndpointLogLines',
  summary: 'Read or search the logs of all workers of an endpoint, by pages in order of time',
  description: `Includes ended workers while their logs are stored. ${LINES_TEXT}`,
  request: { params: WorkerParams.pick({ id: true }), query: MergedLinesQuery },
  ...linesAnswers(MergedLinesResponse),
})

/**
 * Registers the workers, releases, builds and scaling decisions of an endpoint (END-13 to END-15), and the logs of its workers (SCALE-8,
 * LOG-1 to LOG-6).
 */
export function registerEndpointWorkers(app: OpenAPIHono<AppEnv>): void {
  app.openapi(workersRoute, async (c) => c.json(await endpointWorkers.listWorkers(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(releasesRoute, async (c) =>
    c.json(await endpointWorkers.listReleases(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200),
  )
  app.openapi(buildsRoute, async (c) =>
    c.json(await endpointWorkers.listBuilds(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200),
  )
  app.openapi(scalingRoute, async (c) => c.json(await endpointWorkers.listScalingDecisions(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(logsRoute, async (c) => {
    const { id, workerId } = c.req.valid('param')
    const reading = readingOf(c.req.valid('query'), c.req.valid('header'), c.req.raw)
    return logResponse(c, await followWorkerLog(verbContext(c), id, workerId, reading))
  })
  app.openapi(mergedRoute, async (c) => {
    return c.json(await readEndpointLines(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200)
  })
  app.openapi(linesRoute, async (c) => {
    const { id, workerId } = c.req.valid('param')
    return c.json(await readWorkerLines(verbContext(c), id, workerId, c.req.valid('query')), 200)
  })
}
