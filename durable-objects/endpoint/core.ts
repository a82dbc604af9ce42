import type { EndpointConfig } from '../../src/domain/endpoint/record.ts'
import { parseJobSeq } from '../../src/domain/job/id.ts'
import { applyTime, type Job } from '../../src/domain/job/job.ts'
import { type Env, readSettings, type Settings } from '../../src/env.ts'
import { Timers } from '../../src/queue/deadlines.ts'
import { dispatch } from '../../src/queue/dispatch.ts'
import { Effects } from '../../src/queue/effects.ts'
import { planWorkers } from '../../src/queue/scale.ts'
import { settleDueJob } from '../../src/queue/transitions.ts'
import { applySchema } from '../sql-migrations.ts'
import { CallLimits } from './call-limits.ts'
import { Outbox } from './effects/outbox.ts'
import { runWorkerEffects } from './effects/worker-effects.ts'
import { Parking } from './parking.ts'
import { Seal } from './seal.ts'
import { DecisionLog } from './store/decision-log.ts'
import { IdempotencyStore } from './store/idempotency-store.ts'
import { JobStore } from './store/job-store.ts'
import { MetaStore } from './store/meta-store.ts'
import { PayloadStore } from './store/payload-store.ts'
import { RequestSeries } from './store/request-series.ts'
import { ENDPOINT_SCHEMA } from './store/schema.ts'
import { WorkerStore } from './store/worker-store.ts'
import { answerTake, type TakeReply } from './worker/take-replies.ts'

/** An object may hold 10 GB. The rest is for the results of what has been accepted. */
const MAX_STORED_BYTES = 8 * 2 ** 30

interface PendingOperation {
  run: (effects: Effects) => unknown
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/**
 * The state of one endpoint and the only way to change it: `transact`. Operations that arrive together commit together (one flush for
 * many), each in a savepoint of its own so that a failing one undoes only itself; replies leave after the commit.
 */
export class EndpointCore {
  readonly ctx: DurableObjectState
  readonly env: Env
  readonly settings: Settings
  readonly meta: MetaStore
  readonly jobs: JobStore
  readonly payloads: PayloadStore
  readonly workers: WorkerStore
  readonly idempotency: IdempotencyStore
  readonly seal: Seal
  readonly outbox: Outbox
  readonly series: RequestSeries
  readonly decisions: DecisionLog
  readonly parking = new Parking()
  readonly timers: Timers
  readonly limits: CallLimits
  /** Workers with an outside call (placement, removal) under way. */
  readonly inFlight = new Set<string>()
  /** Rises with every word of new capacity: a placement that was under way meanwhile looks again at once. */
  capacityNews = 0
  /** Milliseconds since the epoch; tests set their own clock. */
  now: () => number = () => Date.now()
  /** How long an event stream may be silent before it sends a comment (OAI-6), milliseconds; tests shorten it. */
  keepaliveMs = 5_000
  /** When to decide about workers again is kept in memory only, so the first commit after a start decides anew. */
  private planned = false
  /** Rises with every commit; what was derived from the rows of an older one has to be derived again. */
  generation = 0
  /** Above this, no new jobs; tests set their own. */
  maxStoredBytes = MAX_STORED_BYTES
  private storage = { generation: -1, full: false }
  private pending: PendingOperation[] = []

  constructor(ctx: DurableObjectState, env: Env) {
    this.ctx = ctx
    this.env = env
    this.settings = readSettings(env)
    const sql = ctx.storage.sql
    applySchema(ctx.storage, ENDPOINT_SCHEMA)
    this.meta = new MetaStore(sql)
    this.jobs = new JobStore(sql)
    this.payloads = new PayloadStore(sql)
    this.workers = new WorkerStore(sql)
    this.idempotency = new IdempotencyStore(sql)
    this.seal = new Seal(env.TOKEN_SECRET)
    this.outbox = new Outbox(this)
    this.series = new RequestSeries(sql)
    this.decisions = new DecisionLog(sql)
    this.timers = new Timers(this)
    this.limits = new CallLimits(this.settings.jobLimits)
  }

  get leaseTimes() {
    return { pingIntervalMs: this.settings.workerPingIntervalMs }
  }

  config(): EndpointConfig | null {
    return this.meta.deleted() ? null : this.meta.config()
  }

  /** Inside a transaction: whether new inputs have to wait until old results are gone. Asked of the database once a commit. */
  storageIsFull(): boolean {
    if (this.storage.generation !== this.generation) {
      this.storage = { generation: this.generation, full: this.ctx.storage.sql.databaseSize >= this.maxStoredBytes }
    }
    return this.storage.full
  }

  /** Finds a job by its id, applying whatever time has done to it since: deadline columns are the truth, alarms only a reminder. */
  async findJob(jobId: string): Promise<Job | null> {
    const job = this.peekJob(jobId)
    if (!job || applyTime(job, this.now()).kind === 'none') return job
    await this.transact((effects) => this.settle(job.seq, effects))
    return this.peekJob(jobId)
  }

  /** Inside a transaction: the job as it is now, after time. */
  currentJob(jobId: string, effects: Effects): Job | null {
    const job = this.peekJob(jobId)
    if (!job) return null
    this.settle(job.seq, effects)
    return this.peekJob(jobId)
  }

  /**
   * Jobs that occupy each worker: its leases, or the stopped job that it has not let go of yet. A worker with an open take is free of any
   * stopped job, whatever the orders say.
   */
  occupied(): Map<string, number> {
    const counts = new Map(this.jobs.heldCounts())
    const polling = new Set(this.parking.openTakes().map((take) => take.workerId))
    for (const id of this.workers.withStops()) if (!counts.has(id) && !polling.has(id)) counts.set(id, 1)
    return counts
  }

  /** Runs one operation in the next commit. Its result arrives once the commit is done; its throw undoes only itself. */
  transact<T>(run: (effects: Effects) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.pending.push({ run, resolve: resolve as (value: unknown) => void, reject })
      if (this.pending.length === 1) setTimeout(() => this.flush(), 0)
    })
  }

  private flush(): void {
    const operations = this.pending
    this.pending = []
    this.generation++
    const effects = new Effects()
    const outcomes: { ok: boolean; value: unknown }[] = []
    let taken: TakeReply[] = []
    try {
      this.ctx.storage.transactionSync(() => {
        this.series.sample(this.now(), this.meta.totals())
        this.timers.absorbOutage(this.now())
        for (const operation of operations) outcomes.push(this.runOne(operation, effects))
        taken = dispatch(this, effects)
        effects.scale ||= !this.planned
        if (effects.scale) planWorkers(this, effects)
        this.timers.rearm()
      })
    } catch (error) {
      this.reload()
      for (const operation of operations) operation.reject(error)
      return
    }
    this.planned = true
    this.perform(effects, taken)
    for (const [index, operation] of operations.entries()) {
      const outcome = outcomes[index]
      if (outcome?.ok) operation.resolve(outcome.value)
      else operation.reject(outcome?.value)
    }
  }

  private runOne(operation: PendingOperation, effects: Effects): { ok: boolean; value: unknown } {
    const own = new Effects()
    try {
      const value = this.ctx.storage.transactionSync(() => operation.run(own))
      effects.merge(own)
      return { ok: true, value }
    } catch (error) {
      this.reload()
      return { ok: false, value: error }
    }
  }

  private perform(effects: Effects, taken: readonly TakeReply[]): void {
    for (const reply of taken) answerTake(this, reply)
    for (const id of effects.releasedTakes) this.parking.releaseTake(id)
    for (const id of effects.stopPolls) this.parking.wakeStopPoll(id)
    for (const seq of effects.changedJobs) this.parking.notifyJob(seq)
    if (effects.scale) runWorkerEffects(this)
    void this.outbox.drain()
  }

  /** Inside a transaction: applies what time has done to one job. */
  settle(seq: number, effects: Effects): void {
    const job = this.jobs.bySeq(seq)
    if (job) settleDueJob(this, job, this.now(), effects)
  }

  private peekJob(jobId: string): Job | null {
    const seq = parseJobSeq(jobId, this.meta.idMask())
    const job = seq === null ? null : this.jobs.bySeq(seq)
    return job?.id === jobId ? job : null
  }

  private reload(): void {
    this.meta.reload()
    this.jobs.reload()
    this.payloads.reload()
    this.workers.reload()
    this.outbox.reload()
    this.series.reload()
    this.decisions.reload()
  }
}
