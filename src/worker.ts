import { Sleeper } from '../durable-objects/clock/sleeper.ts'
import { ClusterObject } from '../durable-objects/cluster.ts'
import { EndpointObject } from '../durable-objects/endpoint.ts'
import { HostObject } from '../durable-objects/host.ts'
import { HostTunnelObject } from '../durable-objects/host-tunnel.ts'
import { PodLogObject } from '../durable-objects/pod-log.ts'
import { RateLimiterObject } from '../durable-objects/rate-limiter.ts'
import { WebhookAttempt } from '../durable-objects/webhook/attempt-entrypoint.ts'
import { WebhookSenderObject } from '../durable-objects/webhook-sender.ts'
import { createApp } from './app.ts'
import { Problem } from './contract/problems.ts'
import { type Env, readSettings } from './env.ts'
import { problemResponse } from './http/answers/problem-response.ts'
import { withCliVersion } from './http/callers/cli-version.ts'
import { handlePortCall } from './http/ingress/handle-port-call.ts'
import { parsePortCall } from './http/ingress/port-call.ts'
import { handleJobCall } from './http/jobs/job-api.ts'
import { isJobPath } from './http/jobs/job-path.ts'
import { handleServedCall } from './http/load-balancer/load-balancer.ts'
import { parseServedCall } from './http/load-balancer/served-call.ts'
import { repeatRead } from './http/middleware/repeat-read.ts'
import { slowRefusal } from './http/middleware/slow-refusals.ts'
import { logEvent, setLogLevel } from './platform/log.ts'

const app = createApp()

export default {
  async fetch(request, env, ctx) {
    const fault = setUp(env)
    if (fault !== null) return problemResponse(new Problem('unavailable', { detail: fault }))
    const url = new URL(request.url)
    const settings = readSettings(env)
    const served = parseServedCall(url, settings.lbDomain)
    if (served !== null) return handleServedCall({ request, url, env, ctx }, served)
    const portCall = parsePortCall(url, settings.podProxyDomain)
    if (portCall !== null) return handlePortCall({ request, url, env, ctx }, portCall, settings.podProxyDomain)
    const answer = () => (isJobPath(url.pathname) ? handleJobCall(request, url, env, ctx) : app.fetch(request, env, ctx))
    return slowRefusal(request, await withCliVersion(request, () => repeatRead(request, answer)))
  },
} satisfies ExportedHandler<Env>

/** Returns the configuration error that keeps the plane from serving requests (SEAL-1); null if there is none. */
function setUp(env: Env): string | null {
  try {
    setLogLevel(readSettings(env).logLevel)
    return null
  } catch (error) {
    logEvent('error', 'the plane is not set up', { error })
    return error instanceof Error ? error.message : String(error)
  }
}

export {
  ClusterObject,
  EndpointObject,
  HostObject,
  HostTunnelObject,
  PodLogObject,
  RateLimiterObject,
  Sleeper,
  WebhookAttempt,
  WebhookSenderObject,
}
