import type { OpenAPIHono } from '@hono/zod-openapi'
import { ClusterExplanation, EndpointExplanation, PodExplanation } from '../../contract/explain/explain.ts'
import { explainOwnCluster } from '../../services/clusters/explain-cluster.ts'
import { explainOwnEndpoint } from '../../services/endpoints/explain-endpoint.ts'
import { explainOwnPod } from '../../services/pods/explain-pod.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scoped } from '../middleware/scope.ts'
import { idParams, ok } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const serverless = restRoutes('Serverless')
const clusters = restRoutes('Clusters')
const pods = restRoutes('Pods')

const endpointRoute = serverless('get', '/v2/serverless/{id}/explain', 'serverless:read', {
  operationId: 'explainEndpoint',
  summary: 'Explain the workers of an endpoint, with options to start another one',
  description: 'Workers that start and fail are reported as such, not as missing capacity. `options` are calls that can be sent unchanged.',
  request: { params: idParams('Endpoint id.') },
  responses: { 200: ok('The explanation.', EndpointExplanation) },
})

const clusterRoute = clusters('get', '/v2/clusters/{id}/explain', 'clusters:read', {
  operationId: 'explainCluster',
  summary: 'Explain the state of a cluster',
  description: 'The first cause among its members, the number of members by state, and the errors of failed members.',
  request: { params: idParams('Cluster id.') },
  responses: { 200: ok('The explanation.', ClusterExplanation) },
})

const podRoute = pods('get', '/v2/pods/{id}/explain', scoped('pods:read', 'id'), {
  operationId: 'explainPod',
  summary: 'Explain the state of a pod, with options to start it',
  description:
    'Host capacity is at most 2 seconds old. `options` are calls that can be sent unchanged; each is verified against the hosts.',
  request: { params: idParams('Pod id.') },
  responses: { 200: ok('The explanation.', PodExplanation) },
})

/** Registers the explanations of endpoints, clusters and pods (WHY-4, WHY-10, WHY-16). */
export function registerExplanations(app: OpenAPIHono<AppEnv>): void {
  app.openapi(endpointRoute, async (c) => c.json(await explainOwnEndpoint(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(clusterRoute, async (c) => c.json(await explainOwnCluster(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(podRoute, async (c) => c.json(await explainOwnPod(verbContext(c), c.req.valid('param').id), 200))
}
