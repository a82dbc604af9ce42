import {
  ATTEMPT_TIMEOUT_MS,
  type AttemptOutcome,
  endAttempt,
  interruptAttempt,
  signingSecrets,
  startAttempt,
} from '../../src/domain/webhook/delivery.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { WebhookSenderObject } from '../webhook-sender.ts'
import type { Delivery } from './delivery-store.ts'
import { postDelivery } from './post.ts'

/** Attempts under way at once: to one receiver, to one whose last attempt failed, so that dead ones hold few, and altogether. */
const MAX_PER_ORIGIN = 4
const MAX_PER_FAILING_ORIGIN = 1
const MAX_TOTAL = 64
/** Receivers remembered as failing; forgetting one costs it nothing but three more attempts at once. */
const MAX_FAILING = 1_000
/** When an attempt that was cut off is found, at the latest. */
const GUARD_MS = ATTEMPT_TIMEOUT_MS + 5_000

/** Starts attempts that are due and records how they ended. */
export class Attempts {
  private readonly sender: WebhookSenderObject
  /** Attempts under way: number of the delivery, origin of its receiver. */
  private readonly running = new Map<number, string>()
  private readonly failing = new Set<string>()
  private armedAtMs: number | null = null

  constructor(sender: WebhookSenderObject) {
    this.sender = sender
  }

  /** Finds attempts that nobody makes any more: those of an earlier life of the object, or whose end could not be recorded. */
  recover(nowMs: number): void {
    const { store } = this.sender
    for (const delivery of store.started()) {
      if (!this.running.has(delivery.n)) store.save(delivery, interruptAttempt(delivery.state, nowMs))
    }
  }

  /** Starts what is due and has room, then sets the alarm for the rest. */
  pump(): void {
    while (this.running.size < MAX_TOTAL) {
      const due = this.sender.store.due(this.sender.now(), this.busyOrigins(), MAX_TOTAL - this.running.size)
      if (due.length === 0) break
      for (const delivery of due) if (this.hasRoom(delivery.origin)) this.start(delivery)
    }
    this.rearm()
  }

  /** The alarm fired and is no longer set. */
  alarmFired(): void {
    this.armedAtMs = null
  }

  private start(delivery: Delivery): void {
    this.sender.store.save(delivery, startAttempt(delivery.state, this.sender.now()))
    this.running.set(delivery.n, delivery.origin)
    // Keeps the object alive until the attempt is over.
    this.sender.hold(this.run(delivery))
  }

  private async run(delivery: Delivery): Promise<void> {
    const { store } = this.sender
    const nowMs = this.sender.now()
    const outcome = await postDelivery(delivery, {
      pieces: store.pieces,
      secrets: signingSecrets(this.sender.secrets.get(), nowMs),
      allow: this.sender.settings.webhookAllow,
      nowMs,
      timeoutMs: this.sender.attemptTimeoutMs,
      attempt: this.sender.attempt,
    }).catch((error): AttemptOutcome => {
      logEvent('error', 'webhook attempt failed', { deliveryId: delivery.id, error })
      return { error: 'the attempt could not be made' }
    })
    this.running.delete(delivery.n)
    this.sender.transact(() => this.finish(delivery.n, outcome))
    this.pump()
  }

  private finish(n: number, outcome: AttemptOutcome): void {
    const { store } = this.sender
    const delivery = store.byN(n)
    if (!delivery) return
    const state = endAttempt(delivery.state, outcome, this.sender.now())
    store.save(delivery, state, delivery.state.status)
    this.remember(delivery.origin, state.status === 'DELIVERED')
    store.prune(this.sender.now())
    if (state.status === 'FAILED') logEvent('info', 'webhook given up', { deliveryId: delivery.id, jobId: delivery.jobId, ...outcome })
  }

  private remember(origin: string, delivered: boolean): void {
    if (delivered) this.failing.delete(origin)
    else if (this.failing.size < MAX_FAILING) this.failing.add(origin)
  }

  private rearm(): void {
    const nowMs = this.sender.now()
    const nextAtMs = this.sender.store.nextAtMs()
    const forgetAtMs = this.sender.store.forgetAtMs()
    const times: number[] = []
    // What is due and was not started waits for an attempt to end.
    if (nextAtMs !== null && nextAtMs > nowMs) times.push(nextAtMs)
    if (this.running.size > 0 || (nextAtMs !== null && nextAtMs <= nowMs)) times.push(nowMs + GUARD_MS)
    if (forgetAtMs !== null) times.push(Math.max(forgetAtMs, nowMs + GUARD_MS))
    if (times.length === 0) return
    const atMs = Math.min(...times)
    if (this.armedAtMs !== null && this.armedAtMs > nowMs && this.armedAtMs <= atMs) return
    this.armedAtMs = atMs
    this.sender.setAlarm(atMs)
  }

  private busyOrigins(): string[] {
    return [...new Set(this.running.values())].filter((origin) => !this.hasRoom(origin))
  }

  private hasRoom(origin: string): boolean {
    let count = 0
    for (const other of this.running.values()) if (other === origin) count += 1
    return count < (this.failing.has(origin) ? MAX_PER_FAILING_ORIGIN : MAX_PER_ORIGIN)
  }
}
