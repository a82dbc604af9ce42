import type { OpenAPIHono } from '@hono/zod-openapi'
import { EndpointExplanation } from '../../../contract/explain/explain.ts'
import { explainOwnEndpoint } from '../../../services/endpoints/explain-endpoint.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { idParams, ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Serverless')

const explainRoute = route('get', '/v2/serverless/{id}/explain', 'serverless:read', {
  operationId: 'explainEndpoint',
  summary: 'Explain the workers of an endpoint, with options to start another one',
  description: 'Workers that start and fail are reported as such, not as missing capacity. `options` are calls that can be sent unchanged.',
  request: { params: idParams('Endpoint id.') },
  responses: { 200: ok('The explanation.', EndpointExplanation) },
})

/** Registers the explanation of an endpoint (WHY-10). */
export function registerEndpointExplanation(app: OpenAPIHono<AppEnv>): void {
  app.openapi(explainRoute, async (c) => c.json(await explainOwnEndpoint(verbContext(c), c.req.valid('param').id), 200))
}
