import { EndpointObject } from '../durable-objects/endpoint.ts'
import { HostObject } from '../durable-objects/host.ts'
import { PodLogObject } from '../durable-objects/pod-log.ts'
import { RateLimiterObject } from '../durable-objects/rate-limiter.ts'
import { WebhookAttempt } from '../durable-objects/webhook/attempt-entrypoint.ts'
import { WebhookSenderObject } from '../durable-objects/webhook-sender.ts'
import { createApp } from './app.ts'
import { type Env, readSettings } from './env.ts'
import { handleJobCall } from './http/job-api.ts'
import { isJobPath } from './http/job-path.ts'
import { setLogLevel } from './platform/log.ts'

const app = createApp()

export default {
  fetch(request, env, ctx) {
    setLogLevel(readSettings(env).logLevel)
    const url = new URL(request.url)
    return isJobPath(url.pathname) ? handleJobCall(request, url, env, ctx) : app.fetch(request, env, ctx)
  },
} satisfies ExportedHandler<Env>

export { EndpointObject, HostObject, PodLogObject, RateLimiterObject, WebhookAttempt, WebhookSenderObject }
