import type { JobState } from '../../../../src/contract/enums.ts'
import type { Job } from '../../../../src/domain/job/job.ts'
import type { SeqRange } from '../../../../src/domain/job/job-filter.ts'
import { JOB_ROW, readableJob, STATE_CODES } from './job-row.ts'
import type { Leases } from './leases.ts'

/** Reads of the `jobs` table for users: pages, counts and positions. The queue needs none of them, and they change no row. */
export class JobLists {
  private readonly sql: SqlStorage
  private readonly leases: Pick<Leases, 'get'>

  constructor(sql: SqlStorage, leases: Pick<Leases, 'get'>) {
    this.sql = sql
    this.leases = leases
  }

  /**
   * Jobs of some states in a range of sequence numbers, newest first (JOB-41); every page costs the same. No index has the completed jobs,
   * so with these come the jobs of every state, which the caller leaves out (JOB-42).
   */
  page(states: readonly JobState[] | null, range: SeqRange, limit: number): Job[] {
    const within = 'seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ?'
    if (states === null || states.includes('COMPLETED')) return this.select(`SELECT ${JOB_ROW} FROM jobs WHERE ${within}`, range, limit)
    const found = states
      .flatMap(rangesOf)
      .flatMap(({ rows, seq }) => this.select(`SELECT ${JOB_ROW} FROM jobs ${rows} ORDER BY ${seq} DESC LIMIT ?`, range, limit))
    return found.sort((a, b) => b.seq - a.seq).slice(0, limit)
  }

  // A running job is taken from memory: its row lacks the latest lease renewal (LSE-24).
  private select(query: string, range: SeqRange, wanted: number, limit = wanted): Job[] {
    const rows = this.sql.exec(query, range.fromSeq, range.beforeSeq, limit).toArray()
    const jobs: Job[] = []
    for (const row of rows) {
      const job = this.leases.get(Number(row.seq)) ?? readableJob(row)
      if (job) jobs.push(job)
    }
    // An empty page is the end of a list, so a corrupted row makes room for the next one (JOB-24).
    const isShort = jobs.length < wanted && rows.length === limit
    return isShort ? this.select(query, range, wanted, wanted + rows.length - jobs.length) : jobs
  }

  /** The newest completed jobs among `scanned` numbers up to `fromSeq`. */
  completed(fromSeq: number, scanned: number, limit: number): Job[] {
    const query = `SELECT ${JOB_ROW} FROM jobs WHERE state = ${STATE_CODES.COMPLETED} AND seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ?`
    return this.select(query, { fromSeq: fromSeq + 1 - scanned, beforeSeq: fromSeq + 1 }, limit)
  }

  /** Sequence numbers of jobs in some states, oldest first. */
  seqsAfter(states: readonly JobState[], { fromSeq, beforeSeq }: SeqRange, limit: number): number[] {
    const found = states.flatMap(rangesOf).flatMap(({ rows, seq }) =>
      this.sql
        .exec(`SELECT seq FROM jobs ${rows} ORDER BY ${seq} LIMIT ?`, fromSeq, beforeSeq, limit)
        .toArray()
        .map((row) => Number(row.seq)),
    )
    return found.sort((a, b) => a - b).slice(0, limit)
  }

  /** Number of jobs per state; states without jobs are left out. */
  countByState(states: readonly JobState[], { fromSeq, beforeSeq }: SeqRange): Partial<Record<JobState, number>> {
    const count = ({ rows }: Range) => Number(this.sql.exec(`SELECT COUNT(*) AS n FROM jobs ${rows}`, fromSeq, beforeSeq).one().n)
    const counts = states.map((state) => [state, rangesOf(state).reduce((sum, range) => sum + count(range), 0)] as const)
    return Object.fromEntries(counts.filter(([, count]) => count > 0))
  }

  /** Sequence number of the first job created at this time or later. Numbers rise with time, so a binary search finds it. */
  firstSince(atMs: number): number {
    const row = this.sql.exec('SELECT (SELECT MIN(seq) FROM jobs) AS low, (SELECT MAX(seq) FROM jobs) AS high').one()
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
}

/** Jobs of one state in a range of sequence numbers, in the order of an index. */
interface Range {
  rows: string
  /** The column that holds the sequence number in this index. */
  seq: 'seq' | 'order_key'
}

// DEV-10: no index exists for lists alone, except of jobs that ended without a result, which are few. The order key of a queued job equals
// its sequence number unless it was retried, so the queue's index has most jobs in sequence order. Terms of the partial indexes are repeated
// verbatim: SQLite infers none.
function rangesOf(state: JobState): Range[] {
  const within = 'seq >= ? AND seq < ?'
  if (state === 'IN_QUEUE') {
    const own = (low: 0 | 1) =>
      `INDEXED BY jobs_queue WHERE state = 0 AND low = ${low} AND order_key >= ? AND order_key < ? AND order_key = seq`
    return [
      { rows: own(0), seq: 'order_key' },
      { rows: own(1), seq: 'order_key' },
      { rows: `INDEXED BY jobs_retried WHERE state = 0 AND order_key <> seq AND ${within}`, seq: 'seq' },
    ]
  }
  if (state === 'IN_PROGRESS')
    return [{ rows: `INDEXED BY jobs_running WHERE state = 1 AND ${within} /* plan: sorts no more than the leases */`, seq: 'seq' }]
  if (state === 'COMPLETED') return [{ rows: `WHERE state = ${STATE_CODES[state]} AND ${within}`, seq: 'seq' }]
  return [{ rows: `INDEXED BY jobs_failed WHERE state > 2 AND state = ${STATE_CODES[state]} AND ${within}`, seq: 'seq' }]
}
