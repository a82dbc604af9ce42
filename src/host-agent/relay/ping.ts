import { backoffMs, sleep } from '../../node/backoff.ts'
import type { RelayBounds } from './bounds.ts'
import type { RelayRoute } from './routes.ts'
import type { Upstream } from './upstream.ts'

/** Workers with a ping under way; real ones are far fewer, and a ping that is left out is followed by the next. */
const MAX_WORKERS = 1_000

interface Ping {
  /** Looked up for every try, because what the relay keeps changes meanwhile. */
  target: () => string
  headers: Record<string, string>
  sentAtMs: number
  over: PromiseWithResolvers<void>
}

export interface PingContext {
  upstream: Upstream
  bounds: RelayBounds
  closing: AbortSignal
}

/** Plain pings: of each worker the newest one that the plane has not got (HOST-24). They never touch the disk: an old ping proves nothing. */
export class PingRelay {
  private readonly context: PingContext
  private readonly newest = new Map<string, Ping>()
  private readonly busy = new Set<string>()

  constructor(context: PingContext) {
    this.context = context
  }

  /** Offers a ping; returns once it was tried, or after a moment, because a worker can do nothing about a plane that is away. */
  async relay({ endpoint, worker }: RelayRoute, target: () => string, headers: Record<string, string>): Promise<void> {
    // With its key, because anybody on this host can ping under the name of another.
    const key = JSON.stringify([endpoint, worker, headers.authorization])
    if (!this.busy.has(key) && this.busy.size >= MAX_WORKERS) return
    const ping: Ping = { target, headers, sentAtMs: performance.now(), over: Promise.withResolvers() }
    this.newest.get(key)?.over.resolve()
    this.newest.set(key, ping)
    if (!this.busy.has(key)) void this.run(key)
    const enough = new AbortController()
    await Promise.race([ping.over.promise, sleep(this.context.bounds.spoolAfterMs, enough.signal)])
    enough.abort()
  }

  private async run(key: string): Promise<void> {
    const { bounds, closing } = this.context
    this.busy.add(key)
    for (let ping = this.newest.get(key), failures = 0; ping !== undefined && !closing.aborted; ping = this.newest.get(key)) {
      const leftMs = ping.sentAtMs + bounds.pingKeepMs - performance.now()
      if (leftMs <= 0 || (await this.offer(ping, leftMs))) {
        ping.over.resolve()
        if (this.newest.get(key) === ping) this.newest.delete(key)
        failures = 0
      } else {
        // The worker hears of nothing it could act on.
        ping.over.resolve()
        await sleep(Math.min(leftMs, backoffMs(failures, bounds.retryBaseMs, bounds.retryMaxMs)), closing)
        failures += 1
      }
    }
    this.busy.delete(key)
  }

  private async offer({ target, headers }: Ping, timeoutMs: number): Promise<boolean> {
    const { upstream, closing } = this.context
    const signal = AbortSignal.any([closing, AbortSignal.timeout(Math.ceil(timeoutMs))])
    try {
      const reply = await upstream.send({ method: 'GET', target: target(), headers, signal })
      reply.resume()
      return (reply.statusCode ?? 500) < 500
    } catch {
      return false
    }
  }
}
