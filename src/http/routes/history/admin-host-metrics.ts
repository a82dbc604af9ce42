import type { OpenAPIHono } from '@hono/zod-openapi'
import { IfNoneMatchHeaders, MetricsQuery, MetricsResponse } from '../../../contract/metrics.ts'
import { getHostMetrics } from '../../../services/hosts/host-metrics.ts'
import { answerTagged, taggedAnswers } from '../../answers/tagged-answer.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Hosts')

const metricsRoute = route('get', '/admin/v1/hosts/{id}/metrics', {
  operationId: 'getHostMetrics',
  summary: 'Read the resource use of a machine over time',
  description: 'Stored every 5 s for 10 minutes, every minute for 24 hours and every 15 minutes for 30 days; deleted with the machine.',
  request: { params: idParams('Host id.'), query: MetricsQuery, headers: IfNoneMatchHeaders },
  responses: taggedAnswers(answer('The series.', MetricsResponse)),
})

/** Registers the history of hosts (HIS-7). */
export function registerHostMetrics(app: OpenAPIHono<AppEnv>): void {
  app.openapi(metricsRoute, async (c) =>
    answerTagged(c, await getHostMetrics(operatorContext(c), c.req.valid('param').id, c.req.valid('query'))),
  )
}
