import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { ResealRequest, ResealResponse } from '../../../contract/accounts/secrets.ts'
import { reseal } from '../../../services/operator/reseal.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER } from '../../openapi/rest-components.ts'

const resealRoute = createRoute({
  tags: ['Secrets'],
  security: BEARER,
  middleware: strictJson,
  method: 'post',
  path: '/admin/v1/secrets/reseal',
  operationId: 'reseal',
  summary: 'Seal values that are unsealed or sealed under a previous TOKEN_SECRET, one batch at a time',
  description: 'Repeat the call with the cursor of the response until it has none. Then the previous master secret can be removed.',
  request: { body: { required: true, content: { 'application/json': { schema: ResealRequest } } } },
  responses: {
    200: { description: 'Result of the batch.', content: { 'application/json': { schema: ResealResponse } } },
    ...problemResponses([400, 401, 413, 415, 422]),
  },
})

/** Registers the operator's actions on the secrets of a plane (SEAL-3). */
export function registerAdminSecrets(app: OpenAPIHono<AppEnv>): void {
  app.openapi(resealRoute, async (c) => c.json(await reseal(operatorContext(c), c.req.valid('json').cursor), 200))
}
