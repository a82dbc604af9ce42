import { chooseWorker } from '../../src/domain/balancer/choose-worker.ts'
import type { EndpointConfig } from '../../src/domain/endpoint/record.ts'
import type { OpenRequests, QueueState } from '../../src/queue/state.ts'
import type { Tx } from '../../src/queue/tx.ts'
import { waitingRequest } from '../../src/queue/workers/requests.ts'
import type { SlotRef } from '../../src/rpc/host-tunnel.ts'
import type { Timers } from '../clock/timers.ts'
import { BusyMarks } from './busy-marks.ts'

/** A slot that is not renewed for this long is released, because its carrier is gone. */
export const SLOT_LEASE_MS = 60_000
/** Largest number of requests that wait for a worker at a time. */
export const MAX_WAITING = 1_000
/** How long a worker that could not be reached gets no requests. */
const AVOID_MS = 3_000

/** A reserved slot at a worker for one request. */
export interface Slot extends SlotRef {
  hostId: string
}

/** Dependencies on the endpoint. */
interface SlotsDeps {
  readonly state: { workers: Pick<QueueState['workers'], 'all' | 'get'>; meta: Pick<QueueState['meta'], 'suspended'> }
  readonly timers: Pick<Timers, 'after' | 'every'>
  config(): EndpointConfig | null
  now(): number
  transact(run: (tx: Tx) => unknown): Promise<unknown>
}

interface Held {
  workerId: string
  untilMs: number
  release(): void
}

interface Waiter {
  lease: string
  take(slot: Slot): void
  leave(): void
  release(): void
}

/**
 * Requests of a load-balancing endpoint: those in flight, by worker, and those that wait. In memory only. The carrier of a request renews
 * its slot every few seconds, so a restarted object recovers them soon, and until then its workers count as busy.
 */
export class Slots implements OpenRequests {
  private readonly core: SlotsDeps
  private readonly leases = new Map<string, Held>()
  private readonly counts = new Map<string, number>()
  private readonly avoided = new Map<string, number>()
  private readonly waiters = new Set<Waiter>()
  private readonly marks: BusyMarks
  private endSweeps: (() => void) | null = null

  constructor(core: SlotsDeps) {
    this.core = core
    this.marks = new BusyMarks(core, (workerId) => this.counts.has(workerId))
  }

  held(): ReadonlyMap<string, number> {
    return this.counts
  }

  waiting(): number {
    return this.waiters.size
  }

  /**
   * Takes a slot, at once or when one is free; null when the signal aborts or `waitMs` is over. `lease` identifies the slot, and `release`
   * is called when it is released.
   */
  async take(lease: string, release: () => void, signal: AbortSignal, waitMs: number): Promise<Slot | null> {
    const slot = this.takeNow(lease, () => release)
    if (slot) return slot
    const { promise, resolve } = Promise.withResolvers<Slot | null>()
    const leave = () => {
      if (!this.waiters.delete(waiter)) return
      release()
      resolve(null)
    }
    const waiter: Waiter = { lease, take: resolve, leave, release }
    this.waiters.add(waiter)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    const cancel = this.core.timers.after(waitMs, leave)
    void this.core.transact(waitingRequest)
    this.grant()
    return promise.finally(() => {
      cancel()
      signal.removeEventListener('abort', leave)
    })
  }

  /**
   * Takes a slot that is free now; null when none is or others wait. `admit` is called only if one is free; it returns the function that is
   * called when the slot is released, or null to take none.
   */
  takeNow(lease: string, admit: () => (() => void) | null): Slot | null {
    return this.waiters.size === 0 ? this.tryTake(lease, admit) : null
  }

  /** Gives free slots to waiting requests in order of arrival. Called after every change that may have freed a slot. */
  grant(): void {
    const isServed = this.waiters.size > 0 && this.core.config() !== null && !this.core.state.meta.suspended()
    for (const waiter of this.waiters) {
      if (!isServed) waiter.leave()
      const slot = this.tryTake(waiter.lease, () => waiter.release)
      if (!slot && isServed) return
      if (!slot) continue
      this.waiters.delete(waiter)
      waiter.take(slot)
    }
  }

  /** Releases the slot of a finished request. `isReached` false: its worker could not be reached and gets no requests for `AVOID_MS`. */
  release({ lease, workerId }: SlotRef, isReached: boolean): void {
    const nowMs = this.core.now()
    if (!isReached) {
      this.avoided.set(workerId, nowMs + AVOID_MS)
      this.core.timers.after(AVOID_MS + 1, () => this.grant())
    }
    this.drop(lease)
    this.grant()
  }

  /** Releases the slot of a request that broke off before it was carried; a request that still waits under this lease stops waiting. */
  giveBack(lease: string): void {
    for (const waiter of this.waiters) if (waiter.lease === lease) waiter.leave()
    this.drop(lease)
    this.grant()
  }

  /** Extends the slots of requests that are still carried. */
  renew(slots: readonly SlotRef[]): void {
    const untilMs = this.core.now() + SLOT_LEASE_MS
    for (const { lease, workerId } of slots) {
      const held = this.leases.get(lease)
      if (held) held.untilMs = untilMs
      else this.hold(lease, { workerId, untilMs, release: () => undefined })
    }
  }

  /** Moves the deadlines after a clock step (CLK-3), so that each keeps its remaining time. */
  move(byMs: number): void {
    for (const held of this.leases.values()) held.untilMs += byMs
    for (const [workerId, untilMs] of this.avoided) this.avoided.set(workerId, untilMs + byMs)
    this.marks.move(byMs)
  }

  /** Releases slots that were not renewed. */
  sweep(): void {
    const nowMs = this.core.now()
    for (const [lease, { untilMs }] of this.leases) if (untilMs <= nowMs) this.drop(lease)
    for (const [workerId, untilMs] of this.avoided) if (untilMs <= nowMs) this.avoided.delete(workerId)
    this.grant()
  }

  private tryTake(lease: string, admit: () => (() => void) | null): Slot | null {
    const { core } = this
    const config = core.config()
    if (config?.type !== 'LOAD_BALANCER' || config.scaling.type !== 'REQUEST_COUNT' || core.state.meta.suspended()) return null
    const nowMs = core.now()
    const facts = { version: config.version, perWorker: config.scaling.requestCount, avoided: this.avoided, nowMs }
    const worker = chooseWorker({ workers: core.state.workers.all(), held: this.counts, ...facts })
    if (!worker || worker.hostId === null) return null
    const release = admit()
    if (release === null) return null
    this.hold(lease, { workerId: worker.id, untilMs: nowMs + SLOT_LEASE_MS, release })
    return { endpointId: config.id, workerId: worker.id, lease, hostId: worker.hostId }
  }

  private hold(lease: string, held: Held): void {
    this.leases.set(lease, held)
    const before = this.counts.get(held.workerId) ?? 0
    this.counts.set(held.workerId, before + 1)
    if (before === 0) this.marks.began(held.workerId)
    this.endSweeps ??= this.core.timers.every(SLOT_LEASE_MS / 4, () => this.sweep())
  }

  private drop(lease: string): void {
    const held = this.leases.get(lease)
    if (!held) return
    this.leases.delete(lease)
    held.release()
    const left = (this.counts.get(held.workerId) ?? 1) - 1
    if (left > 0) this.counts.set(held.workerId, left)
    else this.counts.delete(held.workerId)
    if (left === 0) this.marks.over(held.workerId)
    if (this.leases.size > 0) return
    this.endSweeps?.()
    this.endSweeps = null
  }
}
