import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { ClusterExplanation } from '../../contract/explain/explain.ts'
import { explainOwnCluster } from '../../services/clusters/explain-cluster.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scoped } from '../middleware/scope.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../openapi/rest-components.ts'

const explainRoute = createRoute({
  tags: ['Clusters'],
  security: BEARER,
  method: 'get',
  path: '/v2/clusters/{id}/explain',
  operationId: 'explainCluster',
  summary: 'Explain the state of a cluster',
  description: 'The first cause among its members, the number of members by state, and the errors of failed members.',
  ...scoped('clusters:read', []),
  request: { params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Cluster id.' }) }) },
  responses: { 200: ok('The explanation.', ClusterExplanation), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

/** Registers the explanation of a cluster (WHY-16). */
export function registerClusterExplanation(app: OpenAPIHono<AppEnv>): void {
  app.openapi(explainRoute, async (c) => c.json(await explainOwnCluster(verbContext(c), c.req.valid('param').id), 200))
}
