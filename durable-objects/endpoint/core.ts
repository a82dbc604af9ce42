import type { EndpointConfig } from '../../src/domain/endpoint/record.ts'
import { applyTime, type Job } from '../../src/domain/job/job.ts'
import type { QueueNote } from '../../src/domain/job/record.ts'
import { type Env, readSettings, type Settings } from '../../src/env.ts'
import { type Vault, vaultOf } from '../../src/platform/seal.ts'
import { beginCommit, type CommitEnd, endCommit } from '../../src/queue/commit.ts'
import { earliest, nextDueAtMs, settleDue } from '../../src/queue/deadlines.ts'
import { peekJob } from '../../src/queue/jobs.ts'
import { QueueNotes } from '../../src/queue/queue-notes.ts'
import { settleJob } from '../../src/queue/transitions.ts'
import { type Effects, liveConfig, type Tx } from '../../src/queue/tx.ts'
import { Alarm } from './alarm.ts'
import { CallLimits } from './call-limits.ts'
import { GroupCommit } from './commit.ts'
import { Outbox } from './effects/outbox.ts'
import { Parking } from './parking.ts'
import { StorageGrant } from './storage-grant.ts'
import { SqlState } from './store/sql-state.ts'

/** What the tables of an endpoint without jobs take at the most. */
const EMPTY_BYTES = 512 * 1024

/** What follows a commit. */
export type AfterCommit = (core: EndpointCore, effects: Effects, end: CommitEnd) => void

/** An endpoint at work: its rows, those who wait, its one alarm, and `transact`, the only way to change any of it. */
export class EndpointCore {
  readonly ctx: DurableObjectState
  readonly env: Env
  readonly settings: Settings
  readonly state: SqlState
  readonly vault: Vault
  readonly outbox: Outbox
  readonly grant: StorageGrant
  readonly parking = new Parking()
  readonly limits: CallLimits
  /** Workers with an outside call (placement, removal) under way. */
  readonly inFlight = new Set<string>()
  /** Rises with every word of new capacity: a placement that was under way meanwhile looks again at once. */
  capacityNews = 0
  /** Milliseconds since the epoch; tests set their own clock. */
  now: () => number = () => Date.now()
  /** How long an event stream may be silent before it sends a comment (OAI-6), milliseconds; tests shorten it. */
  keepaliveMs = 5_000
  private readonly commits: GroupCommit<CommitEnd>
  private readonly alarm: Alarm
  private readonly notes: QueueNotes
  /** When to decide about workers again is kept in memory only, so the first commit after a start decides anew. */
  private planned = false
  private scaleAtMs: number | null = null

  constructor(ctx: DurableObjectState, env: Env, afterCommit: AfterCommit) {
    this.ctx = ctx
    this.env = env
    this.settings = readSettings(env)
    const pingIntervalMs = this.settings.workerPingIntervalMs
    this.vault = vaultOf(env)
    const seal = { vault: this.vault, place: ctx.id.toString() }
    this.state = new SqlState(ctx.storage, {
      takes: { open: () => this.parking.openTakes() },
      pingIntervalMs,
      seal,
      room: (chars) => this.grant.takeAtHand(chars),
    })
    this.limits = new CallLimits(this.settings.jobLimits)
    this.notes = new QueueNotes(this.state)
    this.alarm = new Alarm(ctx.storage, this.state.meta, pingIntervalMs)
    this.commits = new GroupCommit({
      storage: ctx.storage,
      open: (effects) => ({ state: this.state, nowMs: this.now(), effects }),
      begin: (tx) => this.begin(tx),
      end: (tx) => this.end(tx),
      perform: (effects, end) => {
        this.planned = true
        afterCommit(this, effects, end)
      },
      reload: () => this.state.reload(),
    })
    this.grant = new StorageGrant(env, ctx.storage, () => this.now())
    this.outbox = new Outbox({ env, state: this.state, now: () => this.now(), transact: (run) => this.transact(run) })
  }

  /** Runs one operation in the next commit. Its result arrives once the commit is done; its throw undoes only itself. */
  transact<T>(run: (tx: Tx) => T): Promise<T> {
    return this.commits.transact(run)
  }

  config(): EndpointConfig | null {
    return liveConfig(this.state)
  }

  /** Finds a job by its id, applying whatever time has done to it since: deadline columns are the truth, alarms only a reminder. */
  async findJob(jobId: string): Promise<Job | null> {
    const job = peekJob(this.state, jobId)
    if (!job || applyTime(job, this.now()).kind === 'none') return job
    await this.transact((tx) => settleJob(tx, job.seq))
    return peekJob(this.state, jobId)
  }

  /** STA-2: why jobs of one priority wait. */
  queueNote(lowPriority: boolean): QueueNote | undefined {
    return this.notes.of(lowPriority)
  }

  /** The alarm has fired: what is due, and storage that is not needed any more goes back. */
  async wake(): Promise<void> {
    await this.transact((tx) => this.settleDue(tx))
    const config = this.config()
    if (config) await this.grant.trim(config)
    else await this.freeStorage()
  }

  /** PP-208: nobody can read what a deleted endpoint has kept, so all of it goes as soon as nothing of it is under way. */
  async freeStorage(): Promise<void> {
    const { jobs, workers, meta, outbox } = this.state
    const isBusy = jobs.queuedNormal + jobs.queuedLow > 0 || jobs.running().length > 0 || workers.all().length > 0 || outbox.size > 0
    if (!meta.deleted() || isBusy || this.ctx.storage.sql.databaseSize <= EMPTY_BYTES) return
    await this.ctx.storage.deleteAll()
    this.state.beginAgain()
    await this.transact((tx) => tx.state.meta.setDeleted())
  }

  /** Every deadline that has passed. */
  settleDue(tx: Tx): void {
    this.alarm.fired()
    settleDue(tx)
  }

  private begin(tx: Tx): void {
    this.notes.forget()
    this.state.begin(tx.nowMs)
    beginCommit(tx)
  }

  private end(tx: Tx): CommitEnd {
    const end = endCommit(tx, !this.planned)
    if (end.scaleAtMs !== undefined) this.scaleAtMs = end.scaleAtMs
    const dueAtMs = nextDueAtMs(this.state, tx.nowMs, this.inFlight)
    this.alarm.arm(earliest([dueAtMs, this.scaleAtMs, this.outbox.dueAtMs(tx.nowMs)]), tx.nowMs)
    return end
  }
}
