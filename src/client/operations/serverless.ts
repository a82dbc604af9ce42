import type { ChangePlan } from '../../contract/change-plan.ts'
import type { CreateEndpointRequest, Endpoint, ListEndpointsResponse, UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import type { ListBuildsResponse, ListReleasesResponse } from '../../contract/endpoints/releases.ts'
import type { ListScalingResponse } from '../../contract/endpoints/scaling.ts'
import type { EndpointTimeline } from '../../contract/endpoints/timeline.ts'
import type { ListDeliveriesResponse, SigningSecret, WebhookDelivery } from '../../contract/endpoints/webhooks.ts'
import type { ListWorkersResponse } from '../../contract/endpoints/workers.ts'
import type { EndpointExplanation } from '../../contract/explain/explain.ts'
import type { LogLinesResponse } from '../../contract/logs/lines.ts'
import type { MergedLinesResponse } from '../../contract/logs/merged.ts'
import type { MetricsResponse } from '../../contract/metrics.ts'
import { as, create, events, get, patch, post, remove } from '../operation.ts'

export const SERVERLESS_OPERATIONS = {
  listEndpoints: get('/v2/serverless', as<typeof ListEndpointsResponse>()),
  createEndpoint: create('/v2/serverless', as<typeof Endpoint>(), as<typeof CreateEndpointRequest>()),
  getEndpoint: get('/v2/serverless/{id}', as<typeof Endpoint>()),
  updateEndpoint: patch('/v2/serverless/{id}', as<typeof Endpoint>(), as<typeof UpdateEndpointRequest>()),
  deleteEndpoint: remove('/v2/serverless/{id}', as<typeof ChangePlan | undefined>()),
  getWebhookSigningSecret: get('/v2/webhooks/signing-secret', as<typeof SigningSecret>()),
  rotateWebhookSigningSecret: post('/v2/webhooks/signing-secret/rotate', as<typeof SigningSecret>()),
  listWebhookDeliveries: get('/v2/webhooks/deliveries', as<typeof ListDeliveriesResponse>()),
  redeliverWebhook: post('/v2/webhooks/deliveries/{id}/redeliver', as<typeof WebhookDelivery>()),
  listEndpointWorkers: get('/v2/serverless/{id}/workers', as<typeof ListWorkersResponse>()),
  listEndpointReleases: get('/v2/serverless/{id}/releases', as<typeof ListReleasesResponse>()),
  listEndpointBuilds: get('/v2/serverless/{id}/builds', as<typeof ListBuildsResponse>()),
  listScalingDecisions: get('/v2/serverless/{id}/scaling', as<typeof ListScalingResponse>()),
  getEndpointTimeline: get('/v2/serverless/{id}/timeline', as<typeof EndpointTimeline>()),
  getWorkerMetrics: get('/v2/serverless/{id}/workers/{workerId}/metrics', as<typeof MetricsResponse>()),
  explainEndpoint: get('/v2/serverless/{id}/explain', as<typeof EndpointExplanation>()),
  getWorkerLogs: events('/v2/serverless/{id}/workers/{workerId}/logs'),
  listEndpointLogLines: get('/v2/serverless/{id}/logs/lines', as<typeof MergedLinesResponse>()),
  listWorkerLogLines: get('/v2/serverless/{id}/workers/{workerId}/logs/lines', as<typeof LogLinesResponse>()),
}
