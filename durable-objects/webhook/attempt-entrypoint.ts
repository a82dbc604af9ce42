import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Env } from '../../src/env.ts'

/** Sends one webhook request unchanged. A separate entrypoint, because each invocation has its own limit of open connections (HOOK-4). */
export class WebhookAttempt extends WorkerEntrypoint<Env> {
  override fetch(request: Request): Promise<Response> {
    return fetch(request)
  }
}
