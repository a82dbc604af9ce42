import { countsOf } from '../../../src/domain/worker/timeline.ts'
import type { OpenRequests, OpenTakes, QueueState } from '../../../src/queue/state.ts'
import { applySchema } from '../../sql-migrations.ts'
import { DecisionLog } from './decision-log.ts'
import { AttemptStore } from './jobs/attempt-store.ts'
import { BulkStore } from './jobs/bulk-store.ts'
import { IdempotencyStore } from './jobs/idempotency-store.ts'
import { JobLists } from './jobs/job-lists.ts'
import { JobStore } from './jobs/job-store.ts'
import { PayloadStore } from './jobs/payload-store.ts'
import { type MetaSeal, MetaStore } from './meta-store.ts'
import { OutboxStore } from './outbox-store.ts'
import { RequestSeries } from './request-series.ts'
import { ENDPOINT_SCHEMA } from './schema.ts'
import { TimelineStore } from './timeline-store.ts'
import { Undo } from './undo.ts'
import { WorkerStore } from './workers/worker-store.ts'

/** An object may hold 10 GB. The remainder is reserved for results of accepted jobs. */
const MAX_STORED_BYTES = 8 * 2 ** 30

/** The queue's state as tables of a Durable Object. Synchronous: every caller is inside the object's one transaction. */
export class SqlState implements QueueState {
  readonly jobs: JobStore
  readonly lists: JobLists
  readonly payloads: PayloadStore
  readonly timeline: TimelineStore
  readonly workers: WorkerStore
  readonly meta: MetaStore
  readonly keys: IdempotencyStore
  readonly attempts: AttemptStore
  readonly bulks: BulkStore
  readonly decisions: DecisionLog
  readonly outbox: OutboxStore
  readonly series: RequestSeries
  readonly takes: OpenTakes
  readonly unheardHosts: () => ReadonlyMap<string, number>
  readonly requests: OpenRequests
  readonly pingIntervalMs: number
  /** No job is accepted above this size; tests set a smaller one. */
  maxStoredBytes = MAX_STORED_BYTES
  private readonly room: (chars: number) => boolean
  private readonly sql: SqlStorage
  private readonly undo = new Undo()
  /** Whether the database is full, queried once per commit. */
  private full: boolean | null = null
  /** The newest completed job at the start of the commit. */
  private completedBefore: number | null = null

  constructor(
    storage: DurableObjectStorage,
    options: Pick<QueueState, 'takes' | 'unheardHosts' | 'requests' | 'pingIntervalMs'> & {
      seal: MetaSeal
      room: (chars: number) => boolean
    },
  ) {
    applySchema(storage, ENDPOINT_SCHEMA)
    this.sql = storage.sql
    this.payloads = new PayloadStore(this.sql)
    this.jobs = new JobStore(this.sql, this.undo, this.payloads)
    this.lists = new JobLists(this.sql, this.jobs.leases)
    this.timeline = new TimelineStore(this.sql)
    this.workers = new WorkerStore(this.sql, this.timeline, this.undo)
    this.meta = new MetaStore(this.sql, options.seal, this.undo)
    this.keys = new IdempotencyStore(this.sql)
    this.attempts = new AttemptStore(this.sql)
    this.bulks = new BulkStore(this.sql)
    this.decisions = new DecisionLog(this.sql)
    this.outbox = new OutboxStore(this.sql)
    this.series = new RequestSeries(this.sql)
    this.takes = options.takes
    this.unheardHosts = options.unheardHosts
    this.requests = options.requests
    this.room = options.room
    this.pingIntervalMs = options.pingIntervalMs
  }

  /** Called at the start of every commit. */
  begin(nowMs: number): void {
    this.full = null
    this.undo.begin()
    this.meta.begin()
    this.workers.begin(nowMs)
    this.series.begin(this.meta.totals())
    this.completedBefore = this.newestCompleted()
  }

  /** Called at the end of every commit. */
  end(nowMs: number): void {
    this.workers.end()
    this.series.end(nowMs, this.meta.totals())
    this.noteCompleted()
    const { queuedNormal, queuedLow, inProgress } = this.jobs
    this.timeline.note(countsOf(queuedNormal + queuedLow, inProgress, this.workers.all()), nowMs)
  }

  /** No job with a higher sequence number has completed; null: unknown. Lists of completed jobs begin there, below a long queue (JOB-42). */
  newestCompleted(): number | null {
    const known = this.meta.newestCompleted()
    return known === null ? null : Math.max(known, this.jobs.newestCompleted)
  }

  private noteCompleted(): void {
    const { meta, jobs } = this
    if (meta.newestCompleted() === null) meta.setNewestCompleted(Math.max(this.completedBefore ?? jobs.lastSequence, jobs.newestCompleted))
  }

  isFull(): boolean {
    this.full ??= this.sql.databaseSize >= this.maxStoredBytes
    return this.full
  }

  takeRoom(chars: number): boolean {
    return this.room(chars)
  }

  randomBytes(count: number): Uint8Array {
    return crypto.getRandomValues(new Uint8Array(count))
  }

  /** Mark of the state in memory, for `reload`. */
  get mark(): number {
    return this.undo.mark
  }

  /** Called once a commit is durable: discards the undo steps. */
  keep(): void {
    this.undo.keep()
  }

  /** Called after a rolled-back commit. */
  abandon(): void {
    this.reload()
    this.undo.keep()
    this.meta.abandon()
    this.workers.abandon()
  }

  /** Called after a rolled-back transaction that began at `mark`: restores the state in memory, or reads it again from the rows. */
  reload(mark = 0): void {
    this.full = null
    this.undo.backTo(mark)
    this.jobs.reload()
    this.payloads.reload()
    this.workers.reload()
    this.outbox.reload()
    this.series.reload()
    this.timeline.reload()
    this.decisions.reload()
    this.bulks.reload()
  }
}
