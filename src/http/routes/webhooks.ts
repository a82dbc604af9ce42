import type { OpenAPIHono } from '@hono/zod-openapi'
import { ListDeliveriesQuery, ListDeliveriesResponse, SigningSecret, WebhookDelivery } from '../../contract/endpoints/webhooks.ts'
import * as webhooks from '../../services/endpoints/webhooks.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { idParams, ok } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const Params = idParams('Delivery id.')
const route = restRoutes('Webhooks')

const getSecretRoute = route('get', '/v2/webhooks/signing-secret', 'jobs:write', {
  operationId: 'getWebhookSigningSecret',
  summary: 'Read the secret that signs webhooks',
  description: 'In the form of Standard Webhooks, `whsec_…`: a receiver checks the signature of each delivery with it.',
  responses: { 200: ok('The secret.', SigningSecret) },
})

const rotateSecretRoute = route('post', '/v2/webhooks/signing-secret/rotate', 'jobs:write', {
  operationId: 'rotateWebhookSigningSecret',
  summary: 'Replace the secret; for 24 hours both secrets sign',
  description: 'Deliveries carry signatures of both secrets meanwhile, so that no receiver misses one.',
  responses: { 200: ok('The new secret.', SigningSecret) },
})

const listRoute = route('get', '/v2/webhooks/deliveries', 'jobs:read', {
  operationId: 'listWebhookDeliveries',
  summary: 'List deliveries of webhooks, newest first',
  description: 'Each delivery with its attempts and the answers of the receiver; stored for a limited time.',
  request: { query: ListDeliveriesQuery },
  responses: { 200: ok('A page of deliveries.', ListDeliveriesResponse) },
})

const redeliverRoute = route('post', '/v2/webhooks/deliveries/{id}/redeliver', 'jobs:write', {
  operationId: 'redeliverWebhook',
  summary: 'Send a delivery again: the same id and body, three fresh attempts',
  description: 'Receivers recognize a repetition by its `webhook-id`.',
  request: { params: Params },
  responses: { 200: ok('The delivery.', WebhookDelivery) },
  problems: [409],
})

/** Registers `/v2/webhooks`: signing secret, delivery log, redelivery. */
export function registerWebhooks(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getSecretRoute, async (c) => c.json(await webhooks.getSigningSecret(verbContext(c)), 200))
  app.openapi(rotateSecretRoute, async (c) => c.json(await webhooks.rotateSigningSecret(verbContext(c)), 200))
  app.openapi(listRoute, async (c) => c.json(await webhooks.listDeliveries(verbContext(c), c.req.valid('query')), 200))
  app.openapi(redeliverRoute, async (c) => c.json(await webhooks.redeliver(verbContext(c), c.req.valid('param').id), 200))
}
