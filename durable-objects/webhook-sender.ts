import type { AuditRow } from '../src/db/audit.ts'
import {
  ATTEMPT_TIMEOUT_MS,
  type DeliveryState,
  newDelivery,
  redeliver,
  refuseDelivery,
  type SigningSecrets,
} from '../src/domain/webhook/delivery.ts'
import type { WebhookAllowList } from '../src/domain/webhook/url.ts'
import { webhookAllowOf, webhookAllowOfTeam } from '../src/effects/webhook-allow.ts'
import { type Env, readSettings, type Settings } from '../src/env.ts'
import { type HandOver, readHandOver } from '../src/objects/hand-over.ts'
import { toHex } from '../src/platform/encoding.ts'
import { logEvent } from '../src/platform/log.ts'
import { vaultOf } from '../src/platform/seal.ts'
import type { DeliveryFilter, RedeliverResult, WebhookSenderRpc } from '../src/rpc/webhook-sender.ts'
import { AuditOutbox } from './audit-outbox.ts'
import { watchSteps } from './clock/step-watch.ts'
import { cutIntoPieces } from './piece-store.ts'
import { PlaneObject } from './plane-object.ts'
import { applySchema } from './sql-migrations.ts'
import { Attempts } from './webhook/attempts.ts'
import { type Delivery, DeliveryStore, SENDER_SCHEMA } from './webhook/delivery-store.ts'
import { SecretStore } from './webhook/secret-store.ts'

const ALARM_RETRY_MS = 5_000

/** Delivers one team's webhooks: handed-over notifications are durable here, and a slow receiver delays only its own deliveries. */
export class WebhookSenderObject extends PlaneObject implements WebhookSenderRpc {
  readonly settings: Settings
  readonly store: DeliveryStore
  readonly secrets: SecretStore
  readonly audit: AuditOutbox
  /** Milliseconds since the epoch; tests replace the clock and shorten the timeout. */
  now: () => number = () => this.timers.readClock()
  attemptTimeoutMs = ATTEMPT_TIMEOUT_MS
  private readonly attempts: Attempts

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    applySchema(ctx.storage, SENDER_SCHEMA)
    this.settings = readSettings(env)
    this.store = new DeliveryStore(ctx.storage.sql)
    this.secrets = new SecretStore(ctx.storage.sql, vaultOf(env), ctx.id.toString())
    this.audit = new AuditOutbox({ env, sql: ctx.storage.sql, now: () => this.now() })
    this.attempts = new Attempts(this)
    this.attempts.recover(this.now())
    watchSteps(this.timers, { stepped: (stepMs) => this.stepped(stepMs) })
  }

  private stepped(stepMs: number): void {
    this.store.move(stepMs)
    this.attempts.alarmFired()
    this.hold(Promise.resolve().then(() => this.attempts.pump()))
  }

  /**
   * Accepts a delivery from an endpoint. 200 once it is durable, also for one that is stored already; 503 otherwise, and the endpoint
   * repeats it.
   */
  override async fetch(request: Request): Promise<Response> {
    const handOver = readHandOver(request.headers)
    try {
      if (request.body && !this.store.byId(handOver.id)) await this.take(handOver, request.body)
    } catch (error) {
      logEvent('warn', 'webhook not taken over', { deliveryId: handOver.id, jobId: handOver.jobId, error })
      return new Response(null, { status: 503 })
    }
    this.attempts.pump()
    return new Response()
  }

  async signingSecrets(): Promise<SigningSecrets> {
    return this.secrets.get()
  }

  async rotateSigningSecret(note: AuditRow): Promise<SigningSecrets> {
    this.transact(() => {
      this.secrets.rotate(this.now())
      this.note(note)
    })
    return this.secrets.get()
  }

  async reseal(): Promise<void> {
    this.secrets.reseal()
  }

  allowOf({ endpointId, teamId }: Pick<Delivery, 'endpointId' | 'teamId'>): Promise<WebhookAllowList> {
    return endpointId === null ? webhookAllowOfTeam(this.env, teamId ?? '') : webhookAllowOf(this.env, endpointId)
  }

  async deliveries(filter: DeliveryFilter): Promise<Delivery[]> {
    return this.store.log(filter)
  }

  async redeliver(id: string, note: AuditRow): Promise<RedeliverResult> {
    const delivery = this.store.byId(id)
    if (!delivery) return 'unknown'
    if (delivery.state.status === 'PENDING') return 'pending'
    const state = redeliver(delivery.state, this.now())
    this.transact(() => {
      this.store.save(delivery, state)
      this.note(note)
    })
    this.attempts.pump()
    return { ...delivery, state }
  }

  override async alarm(): Promise<void> {
    this.attempts.alarmFired()
    try {
      this.transact(() => {
        this.attempts.recover(this.now())
        this.store.prune(this.now())
      })
      this.attempts.pump()
      await this.audit.drain()
      this.attempts.rearm()
    } catch (error) {
      // The platform gives up on an alarm that fails repeatedly; a new one keeps the deliveries alive.
      logEvent('error', 'webhook alarm failed', { error })
      await this.ctx.storage.setAlarm(this.now() + ALARM_RETRY_MS)
    }
  }

  /** Runs a change that is rolled back as a whole when it throws. */
  transact(run: () => void): void {
    try {
      this.ctx.storage.transactionSync(run)
    } catch (error) {
      this.store.reload()
      this.audit.reload()
      throw error
    }
  }

  hold(work: Promise<void>): void {
    this.ctx.waitUntil(work)
  }

  setAlarm(atMs: number): void {
    void this.ctx.storage.setAlarm(atMs)
  }

  /** Sends requests to receivers, each in its own invocation. */
  get attempt(): Fetcher {
    // The runtime provides `exports`; its types cannot know this Worker's exports.
    return (this.ctx as unknown as { exports: { WebhookAttempt: Fetcher } }).exports.WebhookAttempt
  }

  // Adds an audit row in the transaction of a change; it is sent to D1 afterwards.
  private note(row: AuditRow): void {
    this.audit.add(row)
    this.hold(Promise.resolve().then(() => this.writeAudit()))
  }

  private async writeAudit(): Promise<void> {
    this.attempts.rearm()
    await this.audit.drain()
    this.attempts.rearm()
  }

  private async take(handOver: HandOver, body: ReadableStream<Uint8Array>): Promise<void> {
    const n = this.store.nextN()
    try {
      const bytes = await this.storeBody(n, body, handOver.bytes)
      if (bytes !== handOver.bytes) throw new Error(`the body ended after ${bytes} of ${handOver.bytes} bytes`)
      this.transact(() => {
        // A second hand-over of the same delivery may have ended while this one was read.
        if (this.store.byId(handOver.id)) this.store.pieces.remove(n)
        else this.store.insert({ ...handOver, n, ...this.describe(handOver), createdAtMs: this.now(), state: this.firstState() })
        // A refused delivery is over at once and has no attempt that would prune the log.
        this.store.prune(this.now())
      })
    } catch (error) {
      this.store.pieces.remove(n)
      throw error
    }
  }

  private async storeBody(n: number, body: ReadableStream<Uint8Array>, expected: number): Promise<number> {
    let bytes = 0
    let part = 0
    for await (const piece of cutIntoPieces(body, expected)) {
      this.store.pieces.insert(n, part++, piece)
      bytes += piece.length
    }
    return bytes
  }

  private describe(handOver: HandOver): Pick<Delivery, 'origin' | 'traceparent'> {
    return { origin: new URL(handOver.url).origin, traceparent: `00-${randomHex(16)}-${randomHex(8)}-01` }
  }

  private firstState(): DeliveryState {
    const fresh = newDelivery(this.now())
    if (this.store.hasRoom()) return fresh
    return refuseDelivery(fresh, 'not sent: too many deliveries of this account wait for their recipients; send it again later', this.now())
  }
}

function randomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)))
}
