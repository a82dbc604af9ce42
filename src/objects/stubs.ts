import type { EndpointObject } from '../../durable-objects/endpoint.ts'
import type { HostObject } from '../../durable-objects/host.ts'
import type { PodLogObject } from '../../durable-objects/pod-log.ts'
import type { RateLimiterObject } from '../../durable-objects/rate-limiter.ts'
import type { WebhookSenderObject } from '../../durable-objects/webhook-sender.ts'
import type { Env } from '../env.ts'
import type { LogKind } from '../host-protocol/logs.ts'

// Every name of a Durable Object, in one place: sharding an endpoint or a team later means changing the name here.

// Deriving an id hashes the name; the job API does it for every call.
const endpointObjectIds = new Map<string, DurableObjectId>()
const MAX_KNOWN_IDS = 10_000

/** The object that holds one endpoint's queue. */
export function endpointStub(env: Env, endpointId: string): DurableObjectStub<EndpointObject> {
  let id = endpointObjectIds.get(endpointId)
  if (!id) {
    if (endpointObjectIds.size >= MAX_KNOWN_IDS) endpointObjectIds.clear()
    id = env.ENDPOINT.idFromName(endpointId)
    endpointObjectIds.set(endpointId, id)
  }
  return env.ENDPOINT.get(id)
}

/** The object that holds one machine's link and desired state. */
export function hostStub(env: Env, hostId: string): DurableObjectStub<HostObject> {
  return env.HOST.get(env.HOST.idFromName(hostId))
}

/** The object that counts one account's REST requests. */
export function rateLimiterStub(env: Env, teamId: string): DurableObjectStub<RateLimiterObject> {
  return env.RATE_LIMITER.get(env.RATE_LIMITER.idFromName(teamId))
}

/** The object that delivers one team's webhooks. */
export function webhookSenderStub(env: Env, teamId: string): DurableObjectStub<WebhookSenderObject> {
  return env.WEBHOOK_SENDER.get(env.WEBHOOK_SENDER.idFromName(teamId))
}

/** The object that keeps the log of one worker or pod, by the id of that worker or pod. */
export function podLogStub(env: Env, kind: LogKind, id: string): DurableObjectStub<PodLogObject> {
  return env.POD_LOG.get(env.POD_LOG.idFromName(`${kind}:${id}`))
}
