import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { EndpointTimeline, TimelineQuery } from '../../../contract/endpoints/timeline.ts'
import { IfNoneMatchHeaders, MetricsQuery, MetricsResponse } from '../../../contract/metrics.ts'
import { getTimeline } from '../../../services/endpoints/timeline.ts'
import { getWorkerMetrics } from '../../../services/history/metrics.ts'
import { answerTagged, ETAG_HEADER, NOT_MODIFIED } from '../../answers/tagged-answer.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const id = z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Endpoint id.' })
const common = { tags: ['Serverless'], security: BEARER, ...scoped('serverless:read', []) }
const problems = problemResponses([401, 403, 404, 422, 429], RATE_HEADERS)
const notModified = { ...NOT_MODIFIED, headers: { ...RATE_HEADERS, ...ETAG_HEADER } }
const [timeline, series] = [ok('The time line.', EndpointTimeline), ok('The series.', MetricsResponse)]

const timelineRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/serverless/{id}/timeline',
  operationId: 'getEndpointTimeline',
  summary: 'Read the history of an endpoint: queue, workers, spend and events',
  description:
    'Stored for 30 days. Events are releases, decisions of the scaler with their inputs, and changes of workers with their reasons.',
  request: { params: z.object({ id }), query: TimelineQuery, headers: IfNoneMatchHeaders },
  responses: { 200: { ...timeline, headers: { ...timeline.headers, ...ETAG_HEADER } }, 304: notModified, ...problems },
})

const workerId = z.string().meta({ param: { name: 'workerId', in: 'path' }, description: 'Worker id.' })
const workerRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/serverless/{id}/workers/{workerId}/metrics',
  operationId: 'getWorkerMetrics',
  summary: 'Read the resource use of a worker over time: CPU, memory, network, disk and each GPU',
  description: 'Available for an ended worker as long as its log is stored.',
  request: { params: z.object({ id, workerId }), query: MetricsQuery, headers: IfNoneMatchHeaders },
  responses: { 200: { ...series, headers: { ...series.headers, ...ETAG_HEADER } }, 304: notModified, ...problems },
})

/** Registers the history of endpoints and their workers (HIS-21, HIS-23). */
export function registerEndpointHistory(app: OpenAPIHono<AppEnv>): void {
  app.openapi(timelineRoute, async (c) => answerTagged(c, await getTimeline(verbContext(c), c.req.valid('param').id, c.req.valid('query'))))
  app.openapi(workerRoute, async (c) => {
    const { id: endpointId, workerId: worker } = c.req.valid('param')
    return answerTagged(c, await getWorkerMetrics(verbContext(c), endpointId, worker, c.req.valid('query')))
  })
}
