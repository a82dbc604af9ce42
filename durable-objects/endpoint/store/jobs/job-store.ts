import { canRetry, dueAtMs, type EndedJob, isTerminal, type Job, type QueuedJob, type RunningJob } from '../../../../src/domain/job/job.ts'
import { dueInRowMs, isRenewal } from '../../../../src/domain/job/lease-memory.ts'
import { INPUT, type JobRows, OUTPUT } from '../../../../src/queue/state.ts'
import type { Undo } from '../undo.ts'
import { ANY, END, END_FOR_NOW, type JobUpdate, LEASE, MOVE } from './job-columns.ts'
import { JOB_ROW, readableJob, STATE_CODES, toJob } from './job-row.ts'
import { Leases } from './leases.ts'
import { PayloadStore } from './payload-store.ts'
import { RecentJobs } from './recent-jobs.ts'

const QUEUED = STATE_CODES.IN_QUEUE
const RUNNING = STATE_CODES.IN_PROGRESS

/** Rows of the `jobs` table. Synchronous: every caller is inside the object's one transaction. */
export class JobStore implements JobRows {
  private readonly sql: SqlStorage
  private nextKey: number
  /** Numbers of queued jobs by priority, in memory because counting a long queue is expensive. */
  queuedNormal = 0
  queuedLow = 0
  /** The highest sequence number of a job that has completed since the object was loaded. */
  newestCompleted = 0
  readonly leases: Leases
  private readonly payloads: PayloadStore
  private readonly recent = new RecentJobs()

  constructor(sql: SqlStorage, undo: Undo, payloads = new PayloadStore(sql)) {
    this.sql = sql
    this.payloads = payloads
    this.nextKey = 0
    this.leases = new Leases(undo, this.select(isRunning, `SELECT ${JOB_ROW} FROM jobs WHERE state = ${RUNNING}`))
    this.reload()
  }

  /** Number of running jobs. */
  get inProgress(): number {
    return this.leases.size
  }

  /** Reads the counters from the rows: at start and after a rollback. */
  reload(): void {
    this.recent.clear()
    const max = (query: string) => Number(this.sql.exec(query).one().value ?? 0)
    this.nextKey = Math.max(
      max('SELECT MAX(seq) AS value FROM jobs'),
      max(`SELECT MAX(order_key) AS value FROM jobs WHERE state = ${QUEUED} AND low = 0`),
      max(`SELECT MAX(order_key) AS value FROM jobs WHERE state = ${QUEUED} AND low = 1`),
    )
    this.queuedNormal = max(`SELECT COUNT(*) AS value FROM jobs WHERE state = ${QUEUED} AND low = 0`)
    this.queuedLow = max(`SELECT COUNT(*) AS value FROM jobs WHERE state = ${QUEUED} AND low = 1`)
  }

  /** The next sequence number: used as rowid and as order key in the queue. */
  nextSequence(): number {
    return ++this.nextKey
  }

  /** The highest sequence number of any job so far. */
  get lastSequence(): number {
    return this.nextKey
  }

  insert(job: QueuedJob, input?: string): void {
    this.sql.exec(
      `INSERT INTO jobs (seq, id, state, low, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, due_at, s3, webhook, input)
       VALUES (?, ?, ${QUEUED}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      job.seq,
      job.id,
      job.lowPriority ? 1 : 0,
      job.orderKey,
      job.createdAtMs,
      job.ttlAtMs,
      job.executionTimeoutMs,
      job.retentionMs,
      dueInRowMs(job),
      job.hasS3Config ? 1 : null,
      job.webhook,
      input === undefined ? null : this.payloads.beside(job.seq, INPUT, input),
    )
    this.count(job, 1)
    this.recent.keep(job)
  }

  /** Writes the columns that a transition may change. `before` is the job as the caller read it. */
  save(before: Job, job: Job): void {
    if (before.state === 'IN_PROGRESS' && job.state === 'IN_PROGRESS' && isSameLease(before, job)) {
      if (!isRenewal(before, job)) this.update(LEASE, job)
      this.leases.keep(job)
      return
    }
    this.update(isMove(before, job) ? MOVE : ANY, job)
    this.note(before, job)
  }

  end(before: Job, job: EndedJob, output?: string): void {
    const mayRunAgain = canRetry(job)
    this.payloads.clearEnded(job.seq, mayRunAgain)
    const short = output === undefined ? null : this.payloads.beside(job.seq, OUTPUT, output)
    this.update(mayRunAgain ? END_FOR_NOW : END, job, short)
    this.note(before, job)
  }

  private note(before: Job, job: Job): void {
    if (job.state === 'COMPLETED') this.newestCompleted = Math.max(this.newestCompleted, job.seq)
    this.count(before, -1)
    this.count(job, 1)
    this.leases.keep(job)
    this.recent.keep(job)
  }

  private update(statement: JobUpdate, job: Job, ...texts: SqlStorageValue[]): void {
    this.sql.exec(statement.sql, ...texts, ...statement.values(job))
  }

  remove(job: Job): void {
    this.count(job, -1)
    this.leases.discard(job.seq)
    this.removeRow(job.seq)
  }

  removeRow(seq: number): void {
    this.sql.exec('DELETE FROM jobs WHERE seq = ?', seq)
    this.recent.discard(seq)
  }

  bySeq(seq: number): Job | null {
    return this.known(seq) ?? this.read(seq, readableJob)
  }

  bySeqOrThrow(seq: number): Job | null {
    return this.known(seq) ?? this.read(seq, toJob)
  }

  private known(seq: number): Job | undefined {
    return this.leases.get(seq) ?? this.recent.get(seq)
  }

  private read(seq: number, convert: typeof readableJob): Job | null {
    const [row] = this.sql.exec(`SELECT ${JOB_ROW} FROM jobs WHERE seq = ?`, seq).toArray()
    const job = row ? convert(row) : null
    if (job) this.recent.keep(job)
    return job
  }

  /** The first queued jobs in the order in which they are taken: normal priority before low, then by order key (SCALE-4). */
  queueHead(limit: number): QueuedJob[] {
    return this.select(isQueued, `SELECT ${JOB_ROW} FROM jobs WHERE state = ${QUEUED} ORDER BY low, order_key LIMIT ?`, limit)
  }

  running(): RunningJob[] {
    return this.leases.all()
  }

  heldBy(workerId: string): RunningJob[] {
    return this.leases.heldBy(workerId)
  }

  /** Number of leases by worker id. */
  heldCounts(): ReadonlyMap<string, number> {
    return this.leases.counts()
  }

  /** Number of leases of normal-priority jobs by worker id. */
  heldNormalCounts(): ReadonlyMap<string, number> {
    return this.leases.normalCounts()
  }

  /** Submission times of the first queued jobs that count for scaling. */
  waitingSinceMs(limit: number): number[] {
    if (limit <= 0) return []
    const query = `SELECT created_at AS at FROM jobs WHERE state = ${QUEUED} AND low = 0 ORDER BY low, order_key LIMIT ?`
    return this.sql
      .exec(query, limit)
      .toArray()
      .map((row) => Number(row.at))
  }

  /** Number of queued jobs that are taken before this one (SCALE-4), counted in the queue's index. */
  ahead(job: Job): { normal: number; low: number } {
    const query = `SELECT COUNT(*) AS n FROM jobs WHERE state = ${QUEUED} AND low = ? AND order_key < ?`
    const before = Number(this.sql.exec(query, job.lowPriority ? 1 : 0, job.orderKey).one().n)
    return job.lowPriority ? { normal: this.queuedNormal, low: before } : { normal: before, low: 0 }
  }

  /** Sequence numbers of jobs whose deadline has passed, earliest first. The rows hold all deadlines except those of leases. */
  due(nowMs: number, limit: number): number[] {
    const rows = this.sql.exec('SELECT seq, due_at FROM jobs WHERE due_at <= ? ORDER BY due_at LIMIT ?', nowMs, limit).toArray()
    const leased = this.leases.due(nowMs)
    const known = new Set(leased.map(({ seq }) => seq))
    const others = rows.map((row) => ({ seq: Number(row.seq), atMs: Number(row.due_at) })).filter(({ seq }) => !known.has(seq))
    // Many rows are removed at one instant (JOB-49), and no lease waits for them.
    const all = [...leased.sort((a, b) => a.atMs - b.atMs), ...others]
    return all.slice(0, limit).map(({ seq }) => seq)
  }

  nextDueAtMs(dueOf: (job: RunningJob) => number = dueAtMs): number | null {
    const value = this.sql.exec('SELECT MIN(due_at) AS value FROM jobs').one().value
    const leased = this.leases.nextDueAtMs(dueOf)
    return value === null ? leased : Math.min(Number(value), leased ?? Number.POSITIVE_INFINITY)
  }

  queued(limit: number): QueuedJob[] {
    return this.select(isQueued, `SELECT ${JOB_ROW} FROM jobs WHERE state = ${QUEUED} LIMIT ?`, limit)
  }

  private select<T extends Job>(isMeant: (job: Job) => job is T, query: string, ...values: SqlStorageValue[]): T[] {
    const jobs: T[] = []
    for (const row of this.sql.exec(query, ...values).toArray()) {
      const job = readableJob(row)
      if (job && isMeant(job)) jobs.push(job)
    }
    return jobs
  }

  private count(job: Job, by: number): void {
    if (job.state !== 'IN_QUEUE') return
    if (job.lowPriority) this.queuedLow += by
    else this.queuedNormal += by
  }
}

function isRunning(job: Job): job is RunningJob {
  return job.state === 'IN_PROGRESS'
}

function isQueued(job: Job): job is QueuedJob {
  return job.state === 'IN_QUEUE'
}

/** Whether both states of a job belong to one attempt. */
function isSameLease(before: RunningJob, after: RunningJob): boolean {
  return before.attempt === after.attempt && before.startedAtMs === after.startedAtMs
}

/** Whether a job moves between the queue and a worker without a change of its order key or chunks. */
function isMove(before: Job, after: Job): boolean {
  return !isTerminal(before.state) && !isTerminal(after.state) && before.orderKey === after.orderKey && before.chunks === after.chunks
}
