import type { OpenAPIHono } from '@hono/zod-openapi'
import { IfNoneMatchHeaders, MetricsQuery, MetricsResponse } from '../../../contract/metrics.ts'
import { getPodMetrics } from '../../../services/history/metrics.ts'
import { answerTagged, taggedAnswers } from '../../answers/tagged-answer.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { idParams, ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Pods')

const metricsRoute = route('get', '/v2/pods/{id}/metrics', scoped('pods:read', 'id'), {
  operationId: 'getPodMetrics',
  summary: 'Read the resource use of a pod over time: CPU, memory, network, disk and each GPU',
  description: 'Stored every 5 s for 10 minutes, every minute for 24 hours and every 15 minutes for 30 days, also for terminated pods.',
  request: { params: idParams('Pod id.'), query: MetricsQuery, headers: IfNoneMatchHeaders },
  responses: taggedAnswers(ok('The series.', MetricsResponse)),
})

/** Registers the history of pods (HIS-4). */
export function registerPodMetrics(app: OpenAPIHono<AppEnv>): void {
  app.openapi(metricsRoute, async (c) =>
    answerTagged(c, await getPodMetrics(verbContext(c), c.req.valid('param').id, c.req.valid('query'))),
  )
}
