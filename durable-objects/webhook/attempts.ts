import {
  ATTEMPT_TIMEOUT_MS,
  type AttemptOutcome,
  endAttempt,
  interruptAttempt,
  signingSecrets,
  startAttempt,
} from '../../src/domain/webhook/delivery.ts'
import { LANES, type Lane, openings, type UnderWay } from '../../src/domain/webhook/slots.ts'
import type { WebhookAllowList } from '../../src/domain/webhook/url.ts'
import type { Settings } from '../../src/env.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { AuditOutbox } from '../audit-outbox.ts'
import type { Timers } from '../clock/timers.ts'
import type { Delivery, DeliveryStore } from './delivery-store.ts'
import { postDelivery } from './post.ts'
import type { SecretStore } from './secret-store.ts'

/** Number of failing targets remembered; the oldest is forgotten first, which only gives it more slots for a while. */
const MAX_FAILING = 1_000
/** Longest time until an interrupted attempt is detected. */
const GUARD_MS = ATTEMPT_TIMEOUT_MS + 5_000

/** Dependencies on the object that makes the attempts. */
export interface AttemptsHome {
  readonly settings: Pick<Settings, 'webhooksPerReceiver'>
  /** Private hosts that a delivery may be sent to. */
  allowOf(delivery: Pick<Delivery, 'endpointId' | 'teamId'>): Promise<WebhookAllowList>
  readonly store: DeliveryStore
  readonly secrets: SecretStore
  readonly audit: AuditOutbox
  /** Sends requests to receivers, each in its own invocation. */
  readonly attempt: Fetcher
  readonly timers: Pick<Timers, 'after'>
  readonly attemptTimeoutMs: number
  now(): number
  /** Runs a change that is rolled back as a whole when it throws. */
  transact(run: () => void): void
  /** Keeps the object alive until the work is done. */
  hold(work: Promise<void>): void
  setAlarm(atMs: number): void
}

/** Starts due attempts and records their outcomes. */
export class Attempts {
  private readonly sender: AttemptsHome
  /** Running attempts, by `n` of their delivery. */
  private readonly running = new Map<number, UnderWay>()
  /** Targets whose last attempt failed. */
  private readonly failing = new Set<string>()
  private armedAtMs: number | null = null

  constructor(sender: AttemptsHome) {
    this.sender = sender
  }

  /** Marks attempts as interrupted that do not run any more: those before a restart of the object, or whose end could not be recorded. */
  recover(nowMs: number): void {
    const { store } = this.sender
    for (const delivery of store.started()) {
      if (!this.running.has(delivery.n)) store.save(delivery, interruptAttempt(delivery.state, nowMs))
    }
  }

  /** Starts due deliveries that have a free slot, then sets the alarm for the others. */
  pump(): void {
    for (const lane of LANES) {
      for (let next = this.next(lane); next !== null; next = this.next(lane)) this.start(next, lane)
    }
    this.rearm()
  }

  /** Records that the alarm fired and is not set any more. */
  alarmFired(): void {
    this.armedAtMs = null
  }

  private next(lane: Lane): Delivery | null {
    const { settings, store } = this.sender
    const open = openings(lane, [...this.running.values()], this.failing, settings.webhooksPerReceiver)
    return open && store.due(this.sender.now(), lane, open)
  }

  private start(delivery: Delivery, lane: Lane): void {
    this.sender.store.save(delivery, startAttempt(delivery.state, this.sender.now()))
    this.running.set(delivery.n, { lane, receiver: delivery.origin, target: delivery.target, bytes: delivery.bytes })
    // Keeps the object alive until the attempt is over.
    this.sender.hold(this.run(delivery))
  }

  private async run(delivery: Delivery): Promise<void> {
    const { store } = this.sender
    const nowMs = this.sender.now()
    const outcome = await postDelivery(delivery, {
      pieces: store.pieces,
      secrets: signingSecrets(this.sender.secrets.get(), nowMs),
      allow: await this.sender.allowOf(delivery),
      nowMs,
      timers: this.sender.timers,
      timeoutMs: this.sender.attemptTimeoutMs,
      attempt: this.sender.attempt,
    }).catch((error): AttemptOutcome => {
      logEvent('error', 'webhook attempt failed', { deliveryId: delivery.id, error })
      return { error: 'the attempt could not be carried out' }
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
    this.remember(delivery.target, state.status === 'DELIVERED')
    store.prune(this.sender.now())
    if (state.status === 'FAILED') logEvent('info', 'webhook given up', { deliveryId: delivery.id, jobId: delivery.jobId, ...outcome })
  }

  private remember(target: string, delivered: boolean): void {
    this.failing.delete(target)
    if (delivered) return
    this.failing.add(target)
    const [oldest] = this.failing
    if (oldest !== undefined && this.failing.size > MAX_FAILING) this.failing.delete(oldest)
  }

  /** Sets the alarm for the next event that the sender waits for. */
  rearm(): void {
    const { store } = this.sender
    const nowMs = this.sender.now()
    // Due deliveries without a slot wait for an attempt to end; later ones need an alarm of their own.
    const laterAtMs = store.nextAtMs(nowMs)
    const forgetAtMs = store.forgetAtMs()
    const times: number[] = []
    const notifyAtMs = this.sender.audit.dueAtMs(nowMs)
    if (notifyAtMs !== null) times.push(notifyAtMs)
    if (laterAtMs !== null) times.push(laterAtMs)
    if (this.running.size > 0 || store.nextAtMs() !== laterAtMs) times.push(nowMs + GUARD_MS)
    if (forgetAtMs !== null) times.push(Math.max(forgetAtMs, nowMs + GUARD_MS))
    if (times.length === 0) return
    const atMs = Math.min(...times)
    if (this.armedAtMs !== null && this.armedAtMs > nowMs && this.armedAtMs <= atMs) return
    this.armedAtMs = atMs
    this.sender.setAlarm(atMs)
  }
}
