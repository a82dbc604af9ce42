import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { IfNoneMatchHeaders, MetricsQuery, MetricsResponse } from '../../../contract/metrics.ts'
import { getPodMetrics } from '../../../services/history/metrics.ts'
import { answerTagged, ETAG_HEADER, NOT_MODIFIED } from '../../answers/tagged-answer.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const series = ok('The series.', MetricsResponse)

const metricsRoute = createRoute({
  tags: ['Pods'],
  security: BEARER,
  method: 'get',
  path: '/v2/pods/{id}/metrics',
  operationId: 'getPodMetrics',
  summary: 'Read the resource use of a pod over time: CPU, memory, network, disk and each GPU',
  description: 'Stored every 5 s for 10 minutes, every minute for 24 hours and every 15 minutes for 30 days, also for terminated pods.',
  ...scoped('pods:read', [], 'id'),
  request: {
    params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Pod id.' }) }),
    query: MetricsQuery,
    headers: IfNoneMatchHeaders,
  },
  responses: {
    200: { ...series, headers: { ...series.headers, ...ETAG_HEADER } },
    304: { ...NOT_MODIFIED, headers: { ...RATE_HEADERS, ...ETAG_HEADER } },
    ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers the history of pods (HIS-4). */
export function registerPodMetrics(app: OpenAPIHono<AppEnv>): void {
  app.openapi(metricsRoute, async (c) =>
    answerTagged(c, await getPodMetrics(verbContext(c), c.req.valid('param').id, c.req.valid('query'))),
  )
}
