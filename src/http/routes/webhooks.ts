import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { ListDeliveriesQuery, ListDeliveriesResponse, SigningSecret, WebhookDelivery } from '../../contract/endpoints/webhooks.ts'
import * as webhooks from '../../services/endpoints/webhooks.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scoped } from '../middleware/scope.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../openapi/rest-components.ts'

const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Delivery id.' }) })
const common = { tags: ['Webhooks'], security: BEARER }

const getSecretRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/webhooks/signing-secret',
  operationId: 'getWebhookSigningSecret',
  summary: 'Read the secret that signs webhooks',
  description: 'In the form of Standard Webhooks, `whsec_…`: a receiver checks the signature of each delivery with it.',
  ...scoped('jobs:write', []),
  responses: { 200: ok('The secret.', SigningSecret), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const rotateSecretRoute = createRoute({
  ...common,
  method: 'post',
  path: '/v2/webhooks/signing-secret/rotate',
  operationId: 'rotateWebhookSigningSecret',
  summary: 'Replace the secret; for 24 hours both secrets sign',
  description: 'Deliveries carry signatures of both secrets meanwhile, so that no receiver misses one.',
  ...scoped('jobs:write', []),
  responses: { 200: ok('The new secret.', SigningSecret), ...problemResponses([401, 403, 413, 429], RATE_HEADERS) },
})

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/webhooks/deliveries',
  operationId: 'listWebhookDeliveries',
  summary: 'List deliveries of webhooks, newest first',
  description: 'Each delivery with its attempts and the answers of the receiver; stored for a limited time.',
  ...scoped('jobs:read', []),
  request: { query: ListDeliveriesQuery },
  responses: { 200: ok('A page of deliveries.', ListDeliveriesResponse), ...problemResponses([401, 403, 422, 429], RATE_HEADERS) },
})

const redeliverRoute = createRoute({
  ...common,
  method: 'post',
  path: '/v2/webhooks/deliveries/{id}/redeliver',
  operationId: 'redeliverWebhook',
  summary: 'Send a delivery again: the same id and body, three fresh attempts',
  description: 'Receivers recognise a repetition by its `webhook-id`.',
  ...scoped('jobs:write', []),
  request: { params: Params },
  responses: { 200: ok('The delivery.', WebhookDelivery), ...problemResponses([401, 403, 404, 409, 413, 429], RATE_HEADERS) },
})

/** Registers `/v2/webhooks`: signing secret, delivery log, redelivery. */
export function registerWebhooks(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getSecretRoute, async (c) => c.json(await webhooks.getSigningSecret(verbContext(c)), 200))
  app.openapi(rotateSecretRoute, async (c) => c.json(await webhooks.rotateSigningSecret(verbContext(c)), 200))
  app.openapi(listRoute, async (c) => c.json(await webhooks.listDeliveries(verbContext(c), c.req.valid('query')), 200))
  app.openapi(redeliverRoute, async (c) => c.json(await webhooks.redeliver(verbContext(c), c.req.valid('param').id), 200))
}
