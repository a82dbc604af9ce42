import type { JobState } from '../../../../src/contract/enums.ts'
import type { Job } from '../../../../src/domain/job/job.ts'
import type { SeqRange } from '../../../../src/domain/job/job-filter.ts'
import { JOB_ROW, STATE_CODES, toJob } from './job-row.ts'
import type { Leases } from './leases.ts'

/** What people ask of the `jobs` table: pages, counts and places of jobs. The queue needs none of it, and none of it changes a row. */
export class JobLists {
  private readonly sql: SqlStorage
  private readonly leases: Pick<Leases, 'get'>

  constructor(sql: SqlStorage, leases: Pick<Leases, 'get'>) {
    this.sql = sql
    this.leases = leases
  }

  /** Jobs of some states in a range of numbers, the newest first (JL-2): no page costs more than another. */
  page(states: readonly JobState[] | null, { fromSeq, beforeSeq }: SeqRange, limit: number): Job[] {
    const within = 'seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ?'
    if (states === null) return this.select(`SELECT ${JOB_ROW} FROM jobs WHERE ${within}`, fromSeq, beforeSeq, limit)
    const found = states
      .flatMap(rangesOf)
      .flatMap(({ rows, seq }) =>
        this.select(`SELECT ${JOB_ROW} FROM jobs ${rows} ORDER BY ${seq} DESC LIMIT ?`, fromSeq, beforeSeq, limit),
      )
    return found.sort((a, b) => b.seq - a.seq).slice(0, limit)
  }

  // A running job is as memory has it: its row does not have the latest renewal of its lease (LSE-24).
  private select(query: string, ...values: SqlStorageValue[]): Job[] {
    return this.sql
      .exec(query, ...values)
      .toArray()
      .map((row) => this.leases.get(Number(row.seq)) ?? toJob(row))
  }

  /** Numbers of jobs in some states, the oldest first. */
  seqsAfter(states: readonly JobState[], { fromSeq, beforeSeq }: SeqRange, limit: number): number[] {
    const found = states.flatMap(rangesOf).flatMap(({ rows, seq }) =>
      this.sql
        .exec(`SELECT seq FROM jobs ${rows} ORDER BY ${seq} LIMIT ?`, fromSeq, beforeSeq, limit)
        .toArray()
        .map((row) => Number(row.seq)),
    )
    return found.sort((a, b) => a - b).slice(0, limit)
  }

  /** How many jobs are in each of some states; none of those without any. */
  countByState(states: readonly JobState[], { fromSeq, beforeSeq }: SeqRange): Partial<Record<JobState, number>> {
    const count = ({ rows }: Range) => Number(this.sql.exec(`SELECT COUNT(*) AS n FROM jobs ${rows}`, fromSeq, beforeSeq).one().n)
    const counts = states.map((state) => [state, rangesOf(state).reduce((sum, range) => sum + count(range), 0)] as const)
    return Object.fromEntries(counts.filter(([, count]) => count > 0))
  }

  /** The number of the first job that was created at this time or later. Numbers rise with time, so it is found by halving. */
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

/** Jobs of one state in a range of numbers, in the order of an index. */
interface Range {
  rows: string
  /** The number of a job, as the index has it. */
  seq: 'seq' | 'order_key'
}

// JOB-21: no index is there for lists alone. A queued job's place is its number unless it was retried, so the index of the queue has most of
// them in the order of their numbers. Terms of the partial indexes are repeated as they stand there: SQLite infers nothing.
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
  return [{ rows: `INDEXED BY jobs_ended WHERE state > 1 AND state = ${STATE_CODES[state]} AND ${within}`, seq: 'seq' }]
}
