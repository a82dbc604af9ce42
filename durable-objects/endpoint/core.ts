import type { EndpointConfig } from '../../src/domain/endpoint/record.ts'
import { applyTime, type Job } from '../../src/domain/job/job.ts'
import type { QueueNote } from '../../src/domain/job/record.ts'
import { type Env, readSettings, type Settings } from '../../src/env.ts'
import { type Vault, vaultOf } from '../../src/platform/seal.ts'
import { moveDeadlines, stepOverRestOf } from '../../src/queue/clock-steps.ts'
import { beginCommit, type CommitEnd, endCommit } from '../../src/queue/commit.ts'
import { earliest, nextDueAtMs, settleDue } from '../../src/queue/deadlines.ts'
import { peekJob } from '../../src/queue/jobs.ts'
import { QueueNotes } from '../../src/queue/queue-notes.ts'
import { settleJob } from '../../src/queue/transitions.ts'
import { type Effects, liveConfig, type Tx } from '../../src/queue/tx.ts'
import { doubtRequests } from '../../src/queue/workers/requests.ts'
import { AuditOutbox } from '../audit-outbox.ts'
import { watchSteps } from '../clock/step-watch.ts'
import type { Timers } from '../clock/timers.ts'
import { hasTables } from '../sql-migrations.ts'
import { CallLimits } from './call-limits.ts'
import { Alarm } from './engine/alarm.ts'
import { stepBulks } from './engine/bulk-steps.ts'
import { GroupCommit } from './engine/commit.ts'
import { hasNothing, isKnown } from './engine/forgetting.ts'
import { Outbox } from './outbox.ts'
import { Parking } from './parking.ts'
import { SLOT_LEASE_MS, Slots } from './slots.ts'
import { StorageGrant } from './storage-grant.ts'
import { SqlState } from './store/sql-state.ts'

/** Delay before an object without a live endpoint deletes its storage. */
const FORGET_AFTER_MS = 60_000

/** Components that use the rows of an object. */
interface Opened {
  state: SqlState
  outbox: Outbox
  audit: AuditOutbox
  alarm: Alarm
  notes: QueueNotes
}

/** Effects performed after a commit. */
export type AfterCommit = (core: EndpointCore, effects: Effects, end: CommitEnd) => void

/**
 * State of a live endpoint: its rows, waiting requests, its single alarm, and `transact`, the only way to change them. Tables are created
 * on the first write: an object whose endpoint is deleted stores nothing, whichever call reaches it.
 */
export class EndpointCore {
  readonly ctx: DurableObjectState
  readonly env: Env
  readonly settings: Settings
  readonly vault: Vault
  readonly grant: StorageGrant
  readonly timers: Timers
  readonly parking: Parking
  readonly slots: Slots
  readonly limits: CallLimits
  /** Workers with an external call (placement, removal) in progress. */
  readonly inFlight = new Set<string>()
  /** Count of notices of new capacity: a placement that a notice overtakes is retried at once. */
  capacityNews = 0
  /** Milliseconds since the epoch; tests replace the clock. */
  now: () => number = () => this.timers.look()
  /** Silence after which an event stream sends a comment (OAI-6), milliseconds; tests shorten it. */
  keepaliveMs = 5_000
  /** Time that a request waits for a worker (LB-6), milliseconds; null: the default. Tests set it. */
  waitMs: number | null = null
  private readonly commits: GroupCommit<CommitEnd>
  private opened: Opened | null = null
  /**
   * Whether a commit has run since the object started. The time of the next scaling decision is only in memory, so the first commit decides
   * again.
   */
  private planned = false
  private scaleAtMs: number | null = null
  /** Clock steps, in milliseconds, that the deadlines are still to be moved by. */
  private stepMs = 0

  constructor(ctx: DurableObjectState, env: Env, timers: Timers, afterCommit: AfterCommit) {
    this.ctx = ctx
    this.env = env
    this.timers = timers
    watchSteps(timers, this)
    this.parking = new Parking(timers)
    this.slots = new Slots(this)
    this.settings = readSettings(env)
    this.vault = vaultOf(env)
    this.limits = new CallLimits(this.settings.jobLimits)
    this.commits = new GroupCommit({
      storage: ctx.storage,
      open: (effects) => ({ state: this.open().state, nowMs: this.now(), effects }),
      begin: (tx) => this.begin(tx),
      end: (tx) => this.end(tx),
      perform: (effects, end) => {
        this.planned = true
        this.stepMs = 0
        this.open().state.keep()
        afterCommit(this, effects, end)
      },
      mark: () => this.open().state.mark,
      reload: (mark) => this.reload((state) => state.reload(mark)),
      abandon: () => this.reload((state) => state.abandon()),
    })
    this.grant = new StorageGrant(env, ctx.storage, () => this.now())
    if (hasTables(ctx.storage)) this.open()
  }

  /** Whether the object stores anything. */
  get isStored(): boolean {
    return this.opened !== null
  }

  get state(): SqlState {
    return this.reading().state
  }

  get outbox(): Outbox {
    return this.reading().outbox
  }

  get audit(): AuditOutbox {
    return this.reading().audit
  }

  /** Runs one operation in the next commit. Resolves after the commit; an operation that throws rolls back only itself. */
  transact<T>(run: (tx: Tx) => T): Promise<T> {
    this.open()
    return this.commits.transact(run)
  }

  config(): EndpointConfig | null {
    return this.opened && liveConfig(this.opened.state)
  }

  /** Finds a job by its id after applying due transitions: deadline columns are authoritative, alarms only a reminder. */
  async findJob(jobId: string): Promise<Job | null> {
    const job = peekJob(this.state, jobId)
    if (!job || applyTime(job, this.now()).kind === 'none') return job
    await this.transact((tx) => settleJob(tx, job.seq))
    return peekJob(this.state, jobId)
  }

  /** STA-2: the reason why jobs of this priority wait. */
  queueNote(lowPriority: boolean): QueueNote | undefined {
    return this.reading().notes.of(lowPriority)
  }

  /** Handles a fired alarm: applies due transitions, runs a step of a bulk change and returns storage that is not needed. */
  async wake(): Promise<void> {
    if (!this.isStored) return
    await this.transact((tx) => {
      this.settleDue(tx)
      stepBulks(this.state, tx)
    })
    const config = this.config()
    if (config) await this.grant.trim(config)
    else await this.forget()
  }

  /**
   * PP-208: deletes all storage of an object whose endpoint is deleted or never existed, once nothing is in progress. Requires that D1
   * confirms it: until then only the object's rows record that a deletion has begun.
   */
  async forget(): Promise<void> {
    if (!this.isForgettable() || (await isKnown(this.env, this.state)) || !this.isForgettable()) return
    const gone = this.ctx.storage.deleteAll()
    this.opened = null
    this.planned = false
    this.scaleAtMs = null
    await Promise.all([gone, this.ctx.storage.deleteAlarm()])
  }

  private isForgettable(): boolean {
    if (!this.opened || this.opened.audit.size > 0 || this.inFlight.size > 0) return false
    return this.config() === null && hasNothing(this.opened.state)
  }

  /** Applies every transition that is due. */
  settleDue(tx: Tx): void {
    this.open().alarm.fired()
    settleDue(tx)
  }

  /** Time of the alarm; null when none is set. */
  readonly wakeAtMs = () => this.opened?.state.meta.alarmAtMs() ?? null

  /** The clock was set (CLK-3, CLK-4): an empty commit moves the deadlines and the alarm. */
  stepped(stepMs: number): void {
    if (!this.planned) return
    this.stepMs += stepMs
    this.slots.move(stepMs)
    void this.transact(() => undefined).catch(() => undefined)
  }

  private reload(takeBack: (state: SqlState) => void): void {
    const { state, audit } = this.open()
    takeBack(state)
    audit.reload()
  }

  private begin(tx: Tx): void {
    const { notes, state } = this.open()
    notes.forget()
    state.begin(tx.nowMs)
    moveDeadlines(tx, this.planned ? this.stepMs : stepOverRestOf(tx))
    beginCommit(tx, !this.planned)
    if (!this.planned) doubtRequests(tx, SLOT_LEASE_MS)
  }

  private end(tx: Tx): CommitEnd {
    const end = endCommit(tx, !this.planned)
    if (end.scaleAtMs !== undefined) this.scaleAtMs = end.scaleAtMs
    const { state, outbox, audit, alarm } = this.open()
    state.end(tx.nowMs)
    const dueAtMs = nextDueAtMs(state, tx.nowMs, this.inFlight)
    const forgetAtMs = liveConfig(state) ? null : tx.nowMs + FORGET_AFTER_MS
    const bulkAtMs = state.bulks.hasRunning ? tx.nowMs : null
    const tellAtMs = earliest([outbox.dueAtMs(tx.nowMs), audit.dueAtMs(tx.nowMs)])
    alarm.arm(earliest([dueAtMs, this.scaleAtMs, tellAtMs, forgetAtMs, bulkAtMs]), tx.nowMs)
    state.meta.end()
    return end
  }

  // A call that was in progress during the deletion finds empty tables; the alarm deletes them again.
  private reading(): Opened {
    if (this.opened) return this.opened
    void this.ctx.storage.setAlarm(this.now() + FORGET_AFTER_MS)
    return this.open()
  }

  private open(): Opened {
    this.opened ??= this.openRows()
    return this.opened
  }

  private openRows(): Opened {
    const { ctx, env, vault, parking, slots } = this
    const pingIntervalMs = this.settings.workerPingIntervalMs
    const seal = { vault, place: ctx.id.toString() }
    const state = new SqlState(ctx.storage, {
      takes: { open: () => parking.openTakes() },
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
