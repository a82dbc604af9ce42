import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { IfNoneMatchHeaders, MetricsQuery, MetricsResponse } from '../../../contract/metrics.ts'
import { getHostMetrics } from '../../../services/hosts/host-metrics.ts'
import { answerTagged, ETAG_HEADER, NOT_MODIFIED } from '../../answers/tagged-answer.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER } from '../../openapi/rest-components.ts'

const metricsRoute = createRoute({
  tags: ['Hosts'],
  security: BEARER,
  method: 'get',
  path: '/admin/v1/hosts/{id}/metrics',
  operationId: 'getHostMetrics',
  summary: 'Read the resource use of a machine over time',
  description: 'Stored every 5 s for 10 minutes, every minute for 24 hours and every 15 minutes for 30 days; deleted with the machine.',
  request: {
    params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Host id.' }) }),
    query: MetricsQuery,
    headers: IfNoneMatchHeaders,
  },
  responses: {
    200: { description: 'The series.', headers: ETAG_HEADER, content: { 'application/json': { schema: MetricsResponse } } },
    304: { ...NOT_MODIFIED, headers: ETAG_HEADER },
    ...problemResponses([401, 404, 422]),
  },
})

/** Registers the history of hosts (HIS-7). */
export function registerHostMetrics(app: OpenAPIHono<AppEnv>): void {
  app.openapi(metricsRoute, async (c) =>
    answerTagged(c, await getHostMetrics(operatorContext(c), c.req.valid('param').id, c.req.valid('query'))),
  )
}
