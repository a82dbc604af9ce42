import type { OpenAPIHono } from '@hono/zod-openapi'
import { ResealRequest, ResealResponse } from '../../../contract/accounts/secrets.ts'
import { reseal } from '../../../services/operator/reseal.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, json } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Secrets')

const resealRoute = route('post', '/admin/v1/secrets/reseal', {
  operationId: 'reseal',
  summary: 'Seal values that are unsealed or sealed under a previous TOKEN_SECRET, one batch at a time',
  description: 'Repeat the call with the cursor of the response until it has none. Then the previous master secret can be removed.',
  request: { body: json(ResealRequest) },
  responses: { 200: answer('Result of the batch.', ResealResponse) },
})

/** Registers the operator's actions on the secrets of a plane (SEAL-3). */
export function registerAdminSecrets(app: OpenAPIHono<AppEnv>): void {
  app.openapi(resealRoute, async (c) => c.json(await reseal(operatorContext(c), c.req.valid('json').cursor), 200))
}
