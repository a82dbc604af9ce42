import { EndpointObject } from '../durable-objects/endpoint.ts'
import { HostObject } from '../durable-objects/host.ts'
import { RateLimiterObject } from '../durable-objects/rate-limiter.ts'
import { createApp } from './app.ts'
import type { Env } from './env.ts'

const app = createApp()

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
} satisfies ExportedHandler<Env>

export { EndpointObject, HostObject, RateLimiterObject }
