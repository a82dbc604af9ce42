import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Env } from '../../src/env.ts'

/** Sends one webhook request as it is. An entrypoint of its own, because each of its calls has its own open connections (HOOK-4). */
export class WebhookAttempt extends WorkerEntrypoint<Env> {
  override fetch(request: Request): Promise<Response> {
    return fetch(request)
  }
}
