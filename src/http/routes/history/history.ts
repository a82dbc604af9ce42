import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { EndpointTimeline, TimelineQuery } from '../../../contract/endpoints/timeline.ts'
import { IfNoneMatchHeaders, MetricsQuery, MetricsResponse } from '../../../contract/metrics.ts'
import { getTimeline } from '../../../services/endpoints/timeline.ts'
import { getPodMetrics, getWorkerMetrics } from '../../../services/history/metrics.ts'
import { answerTagged, taggedAnswers } from '../../answers/tagged-answer.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { idParams, ok, pathParam } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const pods = restRoutes('Pods')
const serverless = restRoutes('Serverless')

const podRoute = pods('get', '/v2/pods/{id}/metrics', scoped('pods:read', 'id'), {
  operationId: 'getPodMetrics',
  summary: 'Read the resource use of a pod over time: CPU, memory, network, disk and each GPU',
  description: 'Stored every 5 s for 10 minutes, every minute for 24 hours and every 15 minutes for 30 days, also for terminated pods.',
  request: { params: idParams('Pod id.'), query: MetricsQuery, headers: IfNoneMatchHeaders },
  responses: taggedAnswers(ok('The series.', MetricsResponse)),
})

const id = pathParam('id', 'Endpoint id.')

const timelineRoute = serverless('get', '/v2/serverless/{id}/timeline', 'serverless:read', {
  operationId: 'getEndpointTimeline',
  summary: 'Read the history of an endpoint: queue, workers, spend and events',
  description:
    'Stored for 30 days. Events are releases, decisions of the scaler with their inputs, and changes of workers with their reasons.',
  request: { params: z.object({ id }), query: TimelineQuery, headers: IfNoneMatchHeaders },
  responses: taggedAnswers(ok('The time line.', EndpointTimeline)),
})

const workerId = pathParam('workerId', 'Worker id.')
const workerRoute = serverless('get', '/v2/serverless/{id}/workers/{workerId}/metrics', 'serverless:read', {
  operationId: 'getWorkerMetrics',
  summary: 'Read the resource use of a worker over time: CPU, memory, network, disk and each GPU',
  description: 'Available for an ended worker as long as its log is stored.',
  request: { params: z.object({ id, workerId }), query: MetricsQuery, headers: IfNoneMatchHeaders },
  responses: taggedAnswers(ok('The series.', MetricsResponse)),
})

/** Registers the history of pods, of endpoints and of their workers (HIS-4, HIS-21, HIS-23). */
export function registerHistory(app: OpenAPIHono<AppEnv>): void {
  app.openapi(podRoute, async (c) => answerTagged(c, await getPodMetrics(verbContext(c), c.req.valid('param').id, c.req.valid('query'))))
  app.openapi(timelineRoute, async (c) => answerTagged(c, await getTimeline(verbContext(c), c.req.valid('param').id, c.req.valid('query'))))
  app.openapi(workerRoute, async (c) => {
    const { id: endpointId, workerId: worker } = c.req.valid('param')
    return answerTagged(c, await getWorkerMetrics(verbContext(c), endpointId, worker, c.req.valid('query')))
  })
}
