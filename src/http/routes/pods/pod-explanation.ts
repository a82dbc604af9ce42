import type { OpenAPIHono } from '@hono/zod-openapi'
import { PodExplanation } from '../../../contract/explain/explain.ts'
import { explainOwnPod } from '../../../services/pods/explain-pod.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { idParams, ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Pods')

const explainRoute = route('get', '/v2/pods/{id}/explain', scoped('pods:read', 'id'), {
  operationId: 'explainPod',
  summary: 'Explain the state of a pod, with options to start it',
  description:
    'Host capacity is at most 2 seconds old. `options` are calls that can be sent unchanged; each is verified against the hosts.',
  request: { params: idParams('Pod id.') },
  responses: { 200: ok('The explanation.', PodExplanation) },
})

/** Registers the explanation of a pod (WHY-4). */
export function registerPodExplanation(app: OpenAPIHono<AppEnv>): void {
  app.openapi(explainRoute, async (c) => c.json(await explainOwnPod(verbContext(c), c.req.valid('param').id), 200))
}
