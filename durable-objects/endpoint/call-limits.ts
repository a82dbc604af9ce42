import type { LimitBucket } from '../../src/contract/jobs/job-routes.ts'
import { describeRefusal, type JobLimitSettings, judgeCall, type Spending, windowOf } from '../../src/domain/job/limits.ts'
import type { Refused } from '../../src/queue/accept.ts'

/** A concurrency slot, or the refusal. */
export type Entry = { release: () => void; refusal?: never } | { release?: never; refusal: Refused }

/** Number of entries above which stale ones are removed. */
const SWEEP_ABOVE = 1_000

/**
 * Rate windows and concurrency slots of an endpoint's callers. In memory only: an object that restarts has no call in progress, and a
 * window lasts ten seconds.
 */
export class CallLimits {
  private readonly settings: JobLimitSettings
  private readonly spendings = new Map<string, Spending>()
  private sweepAt = SWEEP_ABOVE

  constructor(settings: JobLimitSettings) {
    this.settings = settings
  }

  /**
   * Takes a slot for a call, to be released by `release`; returns the 429 refusal beyond the user's limits (LIM-1). `runningWorkers` is
   * called only for a call above the base limits.
   */
  enter(bucket: LimitBucket, userId: string, nowMs: number, runningWorkers: () => number): Entry {
    const spending = this.spendingOf(`${bucket} ${userId}`, nowMs)
    const limit = this.settings.limits[bucket]
    const refusal =
      judgeCall(spending, limit, 0, nowMs) && judgeCall(spending, limit, runningWorkers() * this.settings.requestsPerWorker, nowMs)
    if (refusal) {
      const headers = { 'retry-after': String(refusal.retryAfterSeconds) }
      return { refusal: { key: 'rateLimited', detail: describeRefusal(bucket, refusal), headers } }
    }
    spending.count++
    spending.active++
    return { release: once(() => spending.active--) }
  }

  /** Calls of a user that are in progress. */
  activeCalls(bucket: LimitBucket, userId: string): number {
    return this.spendings.get(`${bucket} ${userId}`)?.active ?? 0
  }

  private spendingOf(key: string, nowMs: number): Spending {
    const window = windowOf(nowMs)
    const known = this.spendings.get(key)
    if (!known) {
      const fresh = { window, count: 0, active: 0 }
      this.sweep(window)
      this.spendings.set(key, fresh)
      return fresh
    }
    if (known.window !== window) {
      known.window = window
      known.count = 0
    }
    return known
  }

  private sweep(window: number): void {
    if (this.spendings.size < this.sweepAt) return
    for (const [key, spending] of this.spendings) if (spending.active === 0 && spending.window !== window) this.spendings.delete(key)
    // All entries may belong to active callers; scanning them again for every new caller would be quadratic.
    this.sweepAt = Math.max(SWEEP_ABOVE, 2 * this.spendings.size)
  }
}

function once(action: () => void): () => void {
  let done = false
  return () => {
    if (!done) action()
    done = true
  }
}

/** Releases a slot at the end of a response: for an event stream at the end of its body, or when the client disconnects (`left`). */
export async function holdToEnd(release: () => void, call: () => Promise<Response>, left: AbortSignal | null = null): Promise<Response> {
  try {
    return releaseAtEnd(await call(), release, left)
  } catch (error) {
    release()
    throw error
  }
}

function releaseAtEnd(response: Response, release: () => void, left: AbortSignal | null): Response {
  const isStream = response.body !== null && response.headers.get('content-type')?.startsWith('text/event-stream')
  if (!response.body || !isStream) {
    release()
    return response
  }
  // When a reader disconnects from a body whose buffer is full, neither a read nor a cancellation reports it.
  if (left?.aborted) release()
  left?.addEventListener('abort', release, { once: true })
  return new Response(watchEnd(response.body, release), response)
}

/** Passes the bytes on; calls `ended` when the body ends, fails or is cancelled. */
function watchEnd(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        ended()
        controller.close()
      } catch (error) {
        ended()
        controller.error(error)
      }
    },
    async cancel(reason) {
      ended()
      await reader.cancel(reason)
    },
  })
}
