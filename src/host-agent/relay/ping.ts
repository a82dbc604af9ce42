import { backoffMs, sleep, within } from '../../node/backoff.ts'
import type { RelayBounds } from './bounds.ts'
import type { Upstream } from './upstream.ts'

interface Ping {
  /** Computed for every attempt, because the results on disk change meanwhile. */
  target: () => string
  headers: Record<string, string>
  sentAtMs: number
  over: PromiseWithResolvers<void>
}

/** The parts of the relay that a ping uses. */
export interface PingContext {
  /** Sends a ping over a worker channel; false when HTTP has to carry it. */
  overChannel(target: string, headers: Record<string, string>): boolean
  upstream: Upstream
  bounds: RelayBounds
  closing: AbortSignal
}

/**
 * Plain pings: for each worker only the newest undelivered one is retained (HOST-24). They are never written to disk, because an old ping
 * proves nothing.
 */
export class PingRelay {
  private readonly context: PingContext
  private readonly newest = new Map<string, Ping>()
  private readonly busy = new Set<string>()

  constructor(context: PingContext) {
    this.context = context
  }

  /** Offers a ping. Returns after one attempt or `spoolAfterMs`, because a worker can do nothing about a plane that cannot be reached. */
  async relay(caller: string, target: () => string, headers: Record<string, string>): Promise<void> {
    const ping: Ping = { target, headers, sentAtMs: performance.now(), over: Promise.withResolvers() }
    this.newest.get(caller)?.over.resolve()
    this.newest.set(caller, ping)
    if (!this.busy.has(caller)) void this.run(caller)
    await within(this.context.bounds.spoolAfterMs, ping.over.promise)
  }

  private async run(caller: string): Promise<void> {
    const { bounds, closing } = this.context
    this.busy.add(caller)
    for (let ping = this.newest.get(caller), failures = 0; ping !== undefined && !closing.aborted; ping = this.newest.get(caller)) {
      const leftMs = ping.sentAtMs + bounds.pingKeepMs - performance.now()
      if (leftMs <= 0 || (await this.offer(caller, ping, leftMs))) {
        ping.over.resolve()
        if (this.newest.get(caller) === ping) this.newest.delete(caller)
        failures = 0
      } else {
        // The worker gets a normal answer even after a failure, because it could not act on one.
        ping.over.resolve()
        await sleep(Math.min(leftMs, backoffMs(failures, bounds.retryBaseMs, bounds.retryMaxMs)), closing)
        failures += 1
      }
    }
    this.busy.delete(caller)
  }

  private async offer(caller: string, { target, headers }: Ping, timeoutMs: number): Promise<boolean> {
    const { overChannel, upstream, closing } = this.context
    if (overChannel(target(), headers)) return true
    const signal = AbortSignal.any([closing, AbortSignal.timeout(Math.ceil(timeoutMs))])
    try {
      const reply = await upstream.send({ caller, method: 'GET', target: target(), headers, signal })
      reply.resume()
      return (reply.statusCode ?? 500) < 500
    } catch {
      return false
    }
  }
}
