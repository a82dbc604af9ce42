import type { LocationHint } from '../domain/catalog/location-hint.ts'
import type { Env } from '../env.ts'
import type { LogKind } from '../host-protocol/logs.ts'
import type { ClusterRpc } from '../rpc/cluster.ts'
import type { EndpointRpc } from '../rpc/endpoint.ts'
import type { HostRpc } from '../rpc/host.ts'
import type { HostTunnelRpc } from '../rpc/host-tunnel.ts'
import type { PodLogRpc } from '../rpc/pod-log.ts'
import type { RateLimiterRpc } from '../rpc/rate-limiter.ts'
import type { WebhookSenderRpc } from '../rpc/webhook-sender.ts'
import type { Owned } from './owned.ts'

// All names of Durable Objects in one place: to shard an endpoint or a team, change its name here. No stub takes a bare id: `own` proves
// that a request's id is the caller's, and `asPlane` states the plane's own reason (AUT-21).

// `region` counts when a call creates the object (HOST-191): the call that may be the first one states it, if it is made for someone far
// from the hosts. Objects that a host calls first are created near that host anyway.

// Deriving an id hashes the name, and the job API and the REST limiter need it for every call, so these ids are cached.
const MAX_KNOWN_IDS = 10_000
const endpointIds = new Map<string, DurableObjectId>()
const limiterIds = new Map<string, DurableObjectId>()

function inRegion(region: LocationHint | null): DurableObjectNamespaceGetDurableObjectOptions {
  return region === null ? {} : { locationHint: region }
}

function knownId(known: Map<string, DurableObjectId>, objects: DurableObjectNamespace, name: string): DurableObjectId {
  const before = known.get(name)
  if (before !== undefined) return before
  if (known.size >= MAX_KNOWN_IDS) known.clear()
  const id = objects.idFromName(name)
  known.set(name, id)
  return id
}

/** The object that holds one endpoint's queue. */
export function endpointStub(env: Env, { id }: Owned<'endpoint'>, region: LocationHint | null = null): DurableObjectStub<EndpointRpc> {
  return env.ENDPOINT.get(knownId(endpointIds, env.ENDPOINT, id), inRegion(region))
}

/** The object that holds one host's link and desired state. */
export function hostStub(env: Env, { id }: Owned<'host'>, region: LocationHint | null = null): DurableObjectStub<HostRpc> {
  return env.HOST.get(env.HOST.idFromName(id), inRegion(region))
}

/** The object through which the workloads of one host are reached. */
export function hostTunnelStub(env: Env, { id }: Owned<'host'>): DurableObjectStub<HostTunnelRpc> {
  return env.HOST_TUNNEL.get(env.HOST_TUNNEL.idFromName(id))
}

/** The object that decides the steps of one cluster's members. */
export function clusterStub(env: Env, { id }: Owned<'cluster'>, region: LocationHint | null = null): DurableObjectStub<ClusterRpc> {
  return env.CLUSTER.get(env.CLUSTER.idFromName(id), inRegion(region))
}

/** The object that counts one user's REST requests. */
export function rateLimiterStub(env: Env, { id }: Owned<'user'>): DurableObjectStub<RateLimiterRpc> {
  return env.RATE_LIMITER.get(knownId(limiterIds, env.RATE_LIMITER, id))
}

/** The object that counts the requests of all pods that one team pays for (CAP-2). */
export function podLimiterStub(env: Env, { id }: Owned<'team'>): DurableObjectStub<RateLimiterRpc> {
  return env.RATE_LIMITER.get(knownId(limiterIds, env.RATE_LIMITER, `pods:${id}`))
}

/** The object that delivers one team's webhooks. */
export function webhookSenderStub(env: Env, { id }: Owned<'team'>): DurableObjectStub<WebhookSenderRpc> {
  return env.WEBHOOK_SENDER.get(env.WEBHOOK_SENDER.idFromName(id))
}

/** The object that stores the log of one worker or pod. */
export function podLogStub(env: Env, { kind, id }: Owned<LogKind>, region: LocationHint | null = null): DurableObjectStub<PodLogRpc> {
  return env.POD_LOG.get(env.POD_LOG.idFromName(`${kind}:${id}`), inRegion(region))
}
