import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { EndpointExplanation } from '../../../contract/explain/explain.ts'
import { explainOwnEndpoint } from '../../../services/endpoints/explain-endpoint.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const explainRoute = createRoute({
  tags: ['Serverless'],
  security: BEARER,
  method: 'get',
  path: '/v2/serverless/{id}/explain',
  operationId: 'explainEndpoint',
  summary: 'Explain the workers of an endpoint, with options to start another one',
  description: 'Workers that start and fail are reported as such, not as missing capacity. `options` are calls that can be sent unchanged.',
  ...scoped('serverless:read', []),
  request: { params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Endpoint id.' }) }) },
  responses: { 200: ok('The explanation.', EndpointExplanation), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

/** Registers the explanation of an endpoint (WHY-10). */
export function registerEndpointExplanation(app: OpenAPIHono<AppEnv>): void {
  app.openapi(explainRoute, async (c) => c.json(await explainOwnEndpoint(verbContext(c), c.req.valid('param').id), 200))
}
