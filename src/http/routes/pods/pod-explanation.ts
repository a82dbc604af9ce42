import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { PodExplanation } from '../../../contract/explain/explain.ts'
import { explainOwnPod } from '../../../services/pods/explain-pod.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const explainRoute = createRoute({
  tags: ['Pods'],
  security: BEARER,
  method: 'get',
  path: '/v2/pods/{id}/explain',
  operationId: 'explainPod',
  summary: 'Explain the state of a pod, with options to start it',
  description:
    'Host capacity is at most 2 seconds old. `options` are calls that can be sent unchanged; each is verified against the hosts.',
  ...scoped('pods:read', [], 'id'),
  request: { params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Pod id.' }) }) },
  responses: { 200: ok('The explanation.', PodExplanation), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

/** Registers the explanation of a pod (WHY-4). */
export function registerPodExplanation(app: OpenAPIHono<AppEnv>): void {
  app.openapi(explainRoute, async (c) => c.json(await explainOwnPod(verbContext(c), c.req.valid('param').id), 200))
}
