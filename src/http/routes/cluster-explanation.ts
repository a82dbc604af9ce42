import type { OpenAPIHono } from '@hono/zod-openapi'
import { ClusterExplanation } from '../../contract/explain/explain.ts'
import { explainOwnCluster } from '../../services/clusters/explain-cluster.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { idParams, ok } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const route = restRoutes('Clusters')

const explainRoute = route('get', '/v2/clusters/{id}/explain', 'clusters:read', {
  operationId: 'explainCluster',
  summary: 'Explain the state of a cluster',
  description: 'The first cause among its members, the number of members by state, and the errors of failed members.',
  request: { params: idParams('Cluster id.') },
  responses: { 200: ok('The explanation.', ClusterExplanation) },
})

/** Registers the explanation of a cluster (WHY-16). */
export function registerClusterExplanation(app: OpenAPIHono<AppEnv>): void {
  app.openapi(explainRoute, async (c) => c.json(await explainOwnCluster(verbContext(c), c.req.valid('param').id), 200))
}
