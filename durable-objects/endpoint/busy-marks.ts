import { BUSY_AFTER_MS, staysBusy } from '../../src/domain/balancer/busy-mark.ts'
import type { EndpointConfig } from '../../src/domain/endpoint/record.ts'
import type { QueueState } from '../../src/queue/state.ts'
import type { Tx } from '../../src/queue/tx.ts'
import { startedRequest, workerIdle } from '../../src/queue/workers/requests.ts'
import type { Timers } from '../clock/timers.ts'

/** Dependencies on the endpoint. */
interface MarksDeps {
  readonly state: { workers: Pick<QueueState['workers'], 'get'>; meta: Pick<QueueState['meta'], 'suspended'> }
  readonly timers: Pick<Timers, 'after'>
  config(): EndpointConfig | null
  now(): number
  transact(run: (tx: Tx) => unknown): Promise<unknown>
}

/**
 * Stores which workers have requests: when a worker gets the first one, and when it has had none for a second (LB-24). Its idle time counts
 * from the end of its last request.
 */
export class BusyMarks {
  private readonly core: MarksDeps
  private readonly hasRequests: (workerId: string) => boolean
  /** Workers that are stored as busy and have no request, with the end of their last one. */
  private readonly ended = new Map<string, number>()
  private isWaiting = false

  constructor(core: MarksDeps, hasRequests: (workerId: string) => boolean) {
    this.core = core
    this.hasRequests = hasRequests
  }

  /** A worker without requests has got one. */
  began(workerId: string): void {
    if (this.ended.delete(workerId)) return
    void this.core.transact((tx) => (this.hasRequests(workerId) || this.ended.has(workerId)) && startedRequest(tx, workerId))
  }

  /** A worker's last request has ended. */
  over(workerId: string): void {
    const { core } = this
    const config = core.config()
    const isServed = config !== null && !core.state.meta.suspended()
    const nowMs = core.now()
    if (isServed && staysBusy(core.state.workers.get(workerId), config.version)) {
      this.ended.set(workerId, nowMs)
      this.wait(BUSY_AFTER_MS)
    } else this.store(workerId, nowMs)
  }

  /** Moves the times after a clock step (CLK-3). */
  move(byMs: number): void {
    for (const [workerId, endedAtMs] of this.ended) this.ended.set(workerId, endedAtMs + byMs)
  }

  /** Stores that workers are idle whose last request ended a second ago. */
  settle(): void {
    // A commit would create the rows of a deleted endpoint again.
    if (this.core.config() === null) this.ended.clear()
    const nowMs = this.core.now()
    let nextAtMs = Number.POSITIVE_INFINITY
    for (const [workerId, endedAtMs] of this.ended) {
      if (nowMs < endedAtMs + BUSY_AFTER_MS) nextAtMs = Math.min(nextAtMs, endedAtMs + BUSY_AFTER_MS)
      else if (this.ended.delete(workerId)) this.store(workerId, endedAtMs)
    }
    if (this.ended.size > 0) this.wait(nextAtMs - nowMs)
  }

  private wait(ms: number): void {
    if (this.isWaiting) return
    this.isWaiting = true
    this.core.timers.after(ms, () => {
      this.isWaiting = false
      this.settle()
    })
  }

  private store(workerId: string, endedAtMs: number): void {
    void this.core.transact((tx) => this.hasRequests(workerId) || this.ended.has(workerId) || workerIdle(tx, workerId, endedAtMs))
  }
}
