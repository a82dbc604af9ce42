import { SERVED_WAIT_MS } from '../../src/contract/endpoints/serving.ts'
import type { EndpointConfig } from '../../src/domain/endpoint/record.ts'
import type { Job } from '../../src/domain/job/job.ts'
import { applyTime } from '../../src/domain/job/lease.ts'
import type { QueueNote } from '../../src/domain/job/record.ts'
import { type Env, readSettings, type Settings } from '../../src/env.ts'
import { type Vault, vaultOf } from '../../src/platform/seal.ts'
import { peekJob } from '../../src/queue/jobs.ts'
import { QueueNotes } from '../../src/queue/queue-notes.ts'
import { applyJobDeadlines } from '../../src/queue/transitions.ts'
import { liveConfig, type Tx } from '../../src/queue/tx.ts'
import { AuditOutbox } from '../audit-outbox.ts'
import type { Timers } from '../clock/timers.ts'
import { CallLimits } from './call-limits.ts'
import { ChannelHosts } from './channel-hosts.ts'
import { performEffects } from './effects/after-commit.ts'
import { Alarm } from './engine/alarm.ts'
import { Engine } from './engine/engine.ts'
import { type Opened, StoredRows } from './engine/stored-rows.ts'
import { Outbox } from './outbox.ts'
import { Parking } from './parking.ts'
import { Slots } from './slots.ts'
import { StorageGrant } from './storage-grant.ts'
import { SqlState } from './store/sql-state.ts'

/** All parts of an endpoint object (parts.ts), put together. Only the object itself knows it; a function names the parts that it uses. */
export class EndpointCore {
  readonly ctx: DurableObjectState
  readonly env: Env
  readonly settings: Settings
  readonly vault: Vault
  readonly grant: StorageGrant
  readonly timers: Timers
  readonly parking: Parking
  readonly slots: Slots
  readonly channelHosts = new ChannelHosts()
  readonly limits: CallLimits
  readonly placing = { inFlight: new Set<string>(), capacityChanges: 0 }
  /** Tests shorten the waits. */
  readonly pace = { keepaliveMs: 5_000, slotWaitMs: SERVED_WAIT_MS }
  /** Tests replace the clock. */
  now: () => number = () => this.timers.readClock()
  private readonly rows: StoredRows
  private readonly engine: Engine

  constructor(ctx: DurableObjectState, env: Env, timers: Timers) {
    this.ctx = ctx
    this.env = env
    this.timers = timers
    this.parking = new Parking(timers)
    this.slots = new Slots(this)
    this.settings = readSettings(env)
    this.vault = vaultOf(env)
    this.limits = new CallLimits(this.settings.jobLimits)
    this.grant = new StorageGrant(env, ctx.storage, () => this.now())
    this.rows = new StoredRows(ctx.storage, this, () => this.openRows())
    this.engine = new Engine(ctx.storage, this.rows, this, (effects, end) => performEffects(this, effects, end))
    this.rows.openExisting()
  }

  get isStored(): boolean {
    return this.rows.present !== null
  }

  get state(): SqlState {
    return this.rows.read().state
  }

  get outbox(): Outbox {
    return this.rows.read().outbox
  }

  get audit(): AuditOutbox {
    return this.rows.read().audit
  }

  config(): EndpointConfig | null {
    return this.rows.present && liveConfig(this.rows.present.state)
  }

  transact<T>(run: (tx: Tx) => T): Promise<T> {
    return this.engine.transact(run)
  }

  // Deadline columns are authoritative, alarms only a reminder.
  async findJob(jobId: string): Promise<Job | null> {
    const job = peekJob(this.state, jobId)
    if (!job || applyTime(job, this.now()).kind === 'none') return job
    await this.transact((tx) => applyJobDeadlines(tx, job.seq))
    return peekJob(this.state, jobId)
  }

  queueNote(lowPriority: boolean): QueueNote | undefined {
    return this.rows.read().notes.of(lowPriority)
  }

  /** Handles a fired alarm. */
  wake(): Promise<void> {
    return this.engine.wake()
  }

  /** END-33: deletes what is stored, once the endpoint is deleted and nothing is in progress. */
  discard(): Promise<void> {
    return this.engine.discard()
  }

  private openRows(): Opened {
    const { ctx, env, vault, parking, slots, channelHosts } = this
    const pingIntervalMs = this.settings.workerPingIntervalMs
    const seal = { vault, place: ctx.id.toString() }
    const state = new SqlState(ctx.storage, {
      takes: parking,
      unheardHosts: () => channelHosts.unheard,
      requests: slots,
      pingIntervalMs,
      seal,
      room: (chars) => this.grant.takeAtHand(chars),
    })
    const outbox = new Outbox({ env, state, now: () => this.now(), transact: (run) => this.transact(run) })
    const audit = new AuditOutbox({ env, sql: ctx.storage.sql, now: () => this.now() })
    return { state, outbox, audit, alarm: new Alarm(ctx.storage, state.meta, pingIntervalMs), notes: new QueueNotes(state) }
  }
}
