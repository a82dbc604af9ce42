import { JOB_STATES, type JobState } from '../../../src/contract/enums.ts'
import { dueAtMs, type Job } from '../../../src/domain/job/job.ts'
import type { SeqRange } from '../../../src/domain/job/job-filter.ts'
import type { JobRows } from '../../../src/queue/state.ts'
import { RecentJobs } from './recent-jobs.ts'

const CODES = Object.fromEntries(JOB_STATES.map((state, code) => [state, code])) as Record<JobState, number>
const QUEUED = CODES.IN_QUEUE
const RUNNING = CODES.IN_PROGRESS

type Row = Record<string, SqlStorageValue>

/** Rows of the `jobs` table. Synchronous: every caller is inside the object's one transaction. */
export class JobStore implements JobRows {
  private readonly sql: SqlStorage
  private nextKey: number
  /** Queued jobs by priority, kept in memory because a count over a long queue is not free. */
  queuedNormal = 0
  queuedLow = 0
  inProgress = 0
  /** Leases by worker, kept until one begins or ends. */
  private held: ReadonlyMap<string, number> | null = null
  private readonly recent = new RecentJobs()

  constructor(sql: SqlStorage) {
    this.sql = sql
    this.nextKey = 0
    this.reload()
  }

  /** Reads the counters again from the rows: at start, and after a transaction that was rolled back. */
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
    this.held = null
    this.inProgress = max(`SELECT COUNT(*) AS value FROM jobs WHERE state = ${RUNNING}`)
  }

  /** The next sequence number: used as rowid and as place in the queue. */
  nextSequence(): number {
    return ++this.nextKey
  }

  insert(job: Job): void {
    this.sql.exec(
      `INSERT INTO jobs (seq, id, state, low, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, due_at, s3, webhook)
       VALUES (?, ?, ${QUEUED}, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      job.seq,
      job.id,
      job.lowPriority ? 1 : 0,
      job.orderKey,
      job.createdAtMs,
      job.ttlAtMs,
      job.executionTimeoutMs,
      job.retentionMs,
      dueAtMs(job),
      job.hasS3Config ? 1 : null,
      job.webhook,
    )
    this.count(job, 1)
    this.recent.keep(job)
  }

  /** Writes every column that a transition may change. `before` is what the caller read. */
  save(before: Job, job: Job): void {
    this.sql.exec(
      `UPDATE jobs SET state = ?, order_key = ?, due_at = ?, attempt = ?, retries = ?, worker_id = ?, boot = ?, past_holders = ?, started_at = ?,
         acked = ?, unconfirmed = ?, lease_until = ?, lease_end_reason = ?, missing_pings = ?, finished_at = ?, error = ?, error_detail = ?, chunks = ?,
         delivery = ? WHERE seq = ?`,
      CODES[job.state],
      job.orderKey,
      dueAtMs(job),
      job.attempt,
      job.retries,
      job.holder?.workerId ?? null,
      job.holder?.boot ?? null,
      job.pastHolders.length > 0 ? job.pastHolders.join(' ') : null,
      job.startedAtMs,
      job.acked ? 1 : 0,
      job.unconfirmed,
      job.leaseUntilMs,
      job.leaseEndReason,
      job.missingPings,
      job.finishedAtMs,
      job.error,
      job.errorDetail,
      job.chunks,
      job.delivery,
      job.seq,
    )
    this.count(before, -1)
    this.count(job, 1)
    if (before.state !== job.state) this.held = null
    this.recent.keep(job)
  }

  remove(job: Job): void {
    this.sql.exec('DELETE FROM jobs WHERE seq = ?', job.seq)
    this.count(job, -1)
    this.held = null
    this.recent.forget(job.seq)
  }

  bySeq(seq: number): Job | null {
    const known = this.recent.get(seq)
    if (known) return known
    const [job] = this.select('SELECT * FROM jobs WHERE seq = ?', seq)
    if (job) this.recent.keep(job)
    return job ?? null
  }

  /** The first queued jobs in the order in which they are taken: normal priority before low, then by place (SCALE-4). */
  queueHead(limit: number): Job[] {
    return this.select(`SELECT * FROM jobs WHERE state = ${QUEUED} ORDER BY low, order_key LIMIT ?`, limit)
  }

  running(): Job[] {
    return this.select(`SELECT * FROM jobs WHERE state = ${RUNNING}`)
  }

  heldBy(workerId: string): Job[] {
    return this.select(`SELECT * FROM jobs WHERE state = ${RUNNING} AND worker_id = ?`, workerId)
  }

  /** Leases by worker id. */
  heldCounts(): ReadonlyMap<string, number> {
    this.held ??= this.countByWorker(`SELECT worker_id AS id, COUNT(*) AS n FROM jobs WHERE state = ${RUNNING} GROUP BY worker_id`)
    return this.held
  }

  /** Leases of jobs that are not low priority, by worker id. */
  heldNormalCounts(): ReadonlyMap<string, number> {
    return this.countByWorker(`SELECT worker_id AS id, COUNT(*) AS n FROM jobs WHERE state = ${RUNNING} AND low = 0 GROUP BY worker_id`)
  }

  /** When the first queued jobs that count for scaling were submitted. */
  waitingSinceMs(limit: number): number[] {
    if (limit <= 0) return []
    const query = `SELECT created_at AS at FROM jobs WHERE state = ${QUEUED} AND low = 0 ORDER BY low, order_key LIMIT ?`
    return this.sql
      .exec(query, limit)
      .toArray()
      .map((row) => Number(row.at))
  }

  /** Queued jobs that are taken before this one (SCALE-4), counted in the index of the queue. */
  ahead(job: Job): { normal: number; low: number } {
    const query = `SELECT COUNT(*) AS n FROM jobs WHERE state = ${QUEUED} AND low = ? AND order_key < ?`
    const before = Number(this.sql.exec(query, job.lowPriority ? 1 : 0, job.orderKey).one().n)
    return job.lowPriority ? { normal: this.queuedNormal, low: before } : { normal: before, low: 0 }
  }

  /** Sequence numbers of jobs whose deadline has passed, earliest first. */
  due(nowMs: number, limit: number): number[] {
    const rows = this.sql.exec('SELECT seq FROM jobs WHERE due_at <= ? ORDER BY due_at LIMIT ?', nowMs, limit).toArray()
    return rows.map((row) => Number(row.seq))
  }

  nextDueAtMs(): number | null {
    const value = this.sql.exec('SELECT MIN(due_at) AS value FROM jobs').one().value
    return value === null ? null : Number(value)
  }

  queued(limit: number): Job[] {
    return this.select(`SELECT * FROM jobs WHERE state = ${QUEUED} LIMIT ?`, limit)
  }

  /** Jobs of some states in a range of numbers, the newest first (JL-2): no page costs more than another. */
  page(states: readonly JobState[] | null, { fromSeq, beforeSeq }: SeqRange, limit: number): Job[] {
    const within = 'seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ?'
    if (states === null) return this.select(`SELECT * FROM jobs WHERE ${within}`, fromSeq, beforeSeq, limit)
    const query = `SELECT * FROM jobs INDEXED BY jobs_state WHERE state = ? AND ${within}`
    const found = states.flatMap((state) => this.select(query, CODES[state], fromSeq, beforeSeq, limit))
    return found.sort((a, b) => b.seq - a.seq).slice(0, limit)
  }

  /** Numbers of jobs in some states, the oldest first. */
  seqsAfter(states: readonly JobState[], { fromSeq, beforeSeq }: SeqRange, limit: number): number[] {
    const query = 'SELECT seq FROM jobs INDEXED BY jobs_state WHERE state = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?'
    const found = states.flatMap((state) =>
      this.sql
        .exec(query, CODES[state], fromSeq, beforeSeq, limit)
        .toArray()
        .map((row) => Number(row.seq)),
    )
    return found.sort((a, b) => a - b).slice(0, limit)
  }

  /** How many jobs are in each of some states; none of those without any. */
  countByState(states: readonly JobState[], { fromSeq, beforeSeq }: SeqRange): Partial<Record<JobState, number>> {
    const query = 'SELECT COUNT(*) AS n FROM jobs INDEXED BY jobs_state WHERE state = ? AND seq >= ? AND seq < ?'
    const counts = states.map((state) => [state, Number(this.sql.exec(query, CODES[state], fromSeq, beforeSeq).one().n)] as const)
    return Object.fromEntries(counts.filter(([, count]) => count > 0))
  }

  /** The number of the first job that was created at this time or later. Numbers rise with time, so it is found by halving. */
  firstSince(atMs: number): number {
    const row = this.sql.exec('SELECT MIN(seq) AS low, MAX(seq) AS high FROM jobs').one()
    let low = Number(row.low ?? 1)
    let high = Number(row.high ?? 0) + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const next = this.sql.exec('SELECT seq, created_at AS at FROM jobs WHERE seq >= ? ORDER BY seq LIMIT 1', middle).toArray()[0]
      if (!next || Number(next.at) >= atMs) high = middle
      else low = Number(next.seq) + 1
    }
    return low
  }

  private select(query: string, ...values: SqlStorageValue[]): Job[] {
    return this.sql
      .exec(query, ...values)
      .toArray()
      .map(toJob)
  }

  private countByWorker(query: string): ReadonlyMap<string, number> {
    const rows = this.sql.exec(query).toArray()
    return new Map(rows.map((row) => [String(row.id), Number(row.n)]))
  }

  private count(job: Job, by: number): void {
    if (job.state === 'IN_PROGRESS') this.inProgress += by
    if (job.state !== 'IN_QUEUE') return
    if (job.lowPriority) this.queuedLow += by
    else this.queuedNormal += by
  }
}

function toJob(row: Row): Job {
  const worker = row.worker_id
  return {
    seq: Number(row.seq),
    id: String(row.id),
    state: JOB_STATES[Number(row.state)] ?? 'FAILED',
    lowPriority: row.low === 1,
    webhook: textOrNull(row.webhook),
    orderKey: Number(row.order_key),
    createdAtMs: Number(row.created_at),
    ttlAtMs: Number(row.ttl_at),
    executionTimeoutMs: Number(row.execution_timeout_ms),
    retentionMs: Number(row.retention_ms),
    hasS3Config: row.s3 === 1,
    attempt: Number(row.attempt),
    retries: Number(row.retries),
    holder: typeof worker === 'string' ? { workerId: worker, boot: String(row.boot) } : null,
    pastHolders: typeof row.past_holders === 'string' ? row.past_holders.split(' ') : [],
    startedAtMs: numberOrNull(row.started_at),
    acked: row.acked === 1,
    unconfirmed: Number(row.unconfirmed),
    leaseUntilMs: numberOrNull(row.lease_until),
    leaseEndReason: typeof row.lease_end_reason === 'string' ? row.lease_end_reason : '',
    missingPings: Number(row.missing_pings ?? 0),
    finishedAtMs: numberOrNull(row.finished_at),
    error: textOrNull(row.error),
    errorDetail: textOrNull(row.error_detail),
    chunks: Number(row.chunks ?? 0),
    delivery: textOrNull(row.delivery),
  }
}

function numberOrNull(value: SqlStorageValue | undefined): number | null {
  return typeof value === 'number' ? value : null
}

function textOrNull(value: SqlStorageValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}
