import type { AttemptOutcome } from '../../src/domain/webhook/delivery.ts'
import { OUTBOUND_ERROR_HEADER, refuseWebhookUrl, type WebhookAllowList } from '../../src/domain/webhook/url.ts'
import { signWebhook } from '../../src/platform/webhook-signature.ts'
import type { Timers } from '../clock/timers.ts'
import type { PieceStore } from '../piece-store.ts'
import type { Delivery } from './delivery-store.ts'

const USER_AGENT = 'podplane-webhook/1'
const MAX_ERROR_CHARS = 200

export interface PostOptions {
  pieces: PieceStore
  secrets: readonly string[]
  allow: WebhookAllowList
  nowMs: number
  timers: Pick<Timers, 'after'>
  timeoutMs: number
  /** Sends the request in its own invocation, so that slow receivers do not use up this object's connections. */
  attempt: Fetcher
}

/** Makes one attempt (HOOK-1, HOOK-8). Never throws, follows no redirect, and reads only the status of the response. */
export async function postDelivery(delivery: Delivery, options: PostOptions): Promise<AttemptOutcome> {
  // The allow list may have changed since the job was submitted.
  const refusal = refuseWebhookUrl(delivery.url, options.allow)
  if (refusal) return { error: `not sent: ${refusal}` }
  // Not AbortSignal.timeout, whose timer would keep the object busy long after the response.
  const late = new AbortController()
  const cancel = options.timers.after(options.timeoutMs, () => late.abort())
  try {
    const response = await options.attempt.fetch(delivery.url, {
      method: 'POST',
      headers: headersOf(delivery, options),
      body: options.pieces.stream(delivery.n, delivery.bytes),
      redirect: 'manual',
      signal: late.signal,
    })
    await response.body?.cancel().catch(() => undefined)
    const error = response.headers.get(OUTBOUND_ERROR_HEADER)
    return error === null ? { status: response.status } : { error: error.slice(0, MAX_ERROR_CHARS) }
  } catch {
    // The runtime's own message may contain the address, and does not help a receiver's owner.
    return { error: late.signal.aborted ? `no answer within ${options.timeoutMs / 1000} s` : 'the connection failed' }
  } finally {
    cancel()
  }
}

function headersOf(delivery: Delivery, options: PostOptions): Record<string, string> {
  const timestampSeconds = Math.floor(options.nowMs / 1000)
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    traceparent: delivery.traceparent,
    'webhook-id': delivery.id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signWebhook(options.secrets, delivery.id, timestampSeconds, options.pieces.all(delivery.n)),
  }
}
