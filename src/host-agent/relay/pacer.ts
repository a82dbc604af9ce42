import { backoffMs } from '../../node/backoff.ts'
import type { RelayBounds } from './bounds.ts'

type PacerBounds = Pick<RelayBounds, 'deliverers' | 'retryBaseMs' | 'retryMaxMs'>

/**
 * Schedules the delivery of posts from disk: a few at a time, the workloads in turn. While the plane takes none, one at a time with a
 * growing backoff.
 */
export class Pacer {
  private readonly bounds: PacerBounds
  /** Queues by workload; the next workload is first. */
  private readonly waiting = new Map<string, (() => void)[]>()
  private active = 0
  private failures = 0
  private resumeAtMs = 0
  private timer: NodeJS.Timeout | undefined
  private closed = false

  constructor(bounds: PacerBounds) {
    this.bounds = bounds
  }

  /** Waits for a turn; every turn ends with `leave`. A closed pacer lets all callers pass. */
  enter(caller: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.waiting.get(caller)
      if (queue === undefined) this.waiting.set(caller, [resolve])
      else queue.push(resolve)
      this.admit()
    })
  }

  leave(): void {
    this.active -= 1
    this.admit()
  }

  /** Records that the plane did not accept a post. */
  failed(): void {
    const { retryBaseMs, retryMaxMs } = this.bounds
    this.resumeAtMs = performance.now() + backoffMs(this.failures, retryBaseMs, retryMaxMs)
    this.failures += 1
  }

  /** Records an answer of the plane: it can be reached. */
  answered(): void {
    if (this.failures === 0) return
    this.failures = 0
    this.tryNow()
  }

  /** Ends the current pause, if any. */
  tryNow(): void {
    this.resumeAtMs = 0
    this.admit()
  }

  close(): void {
    this.closed = true
    this.tryNow()
  }

  private admit(): void {
    clearTimeout(this.timer)
    const limit = this.failures > 0 ? 1 : this.bounds.deliverers
    while (this.waiting.size > 0 && (this.closed || this.active < limit)) {
      const pauseMs = this.resumeAtMs - performance.now()
      if (pauseMs > 0 && !this.closed) {
        this.timer = setTimeout(() => this.admit(), pauseMs)
        return
      }
      this.active += 1
      this.nextInTurn()?.()
    }
  }

  private nextInTurn(): (() => void) | undefined {
    const [caller, queue] = this.waiting.entries().next().value ?? ['', []]
    const next = queue.shift()
    this.waiting.delete(caller)
    if (queue.length > 0) this.waiting.set(caller, queue)
    return next
  }
}
