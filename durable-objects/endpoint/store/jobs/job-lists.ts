import type { JobState } from '../../../../src/contract/enums.ts'
import type { Job } from '../../../../src/domain/job/job.ts'
import type { SeqRange } from '../../../../src/domain/job/job-filter.ts'
import { STATE_CODES, toJob } from './job-row.ts'

/** What people ask of the `jobs` table: pages, counts and places of jobs. The queue needs none of it, and none of it changes a row. */
export class JobLists {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Jobs of some states in a range of numbers, the newest first (JL-2): no page costs more than another. */
  page(states: readonly JobState[] | null, { fromSeq, beforeSeq }: SeqRange, limit: number): Job[] {
    const within = 'seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ?'
    if (states === null) return select(this.sql, `SELECT * FROM jobs WHERE ${within}`, fromSeq, beforeSeq, limit)
    const query = `SELECT * FROM jobs INDEXED BY jobs_state WHERE state = ? AND ${within}`
    const found = states.flatMap((state) => select(this.sql, query, STATE_CODES[state], fromSeq, beforeSeq, limit))
    return found.sort((a, b) => b.seq - a.seq).slice(0, limit)
  }

  /** Numbers of jobs in some states, the oldest first. */
  seqsAfter(states: readonly JobState[], { fromSeq, beforeSeq }: SeqRange, limit: number): number[] {
    const query = 'SELECT seq FROM jobs INDEXED BY jobs_state WHERE state = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?'
    const found = states.flatMap((state) =>
      this.sql
        .exec(query, STATE_CODES[state], fromSeq, beforeSeq, limit)
        .toArray()
        .map((row) => Number(row.seq)),
    )
    return found.sort((a, b) => a - b).slice(0, limit)
  }

  /** How many jobs are in each of some states; none of those without any. */
  countByState(states: readonly JobState[], { fromSeq, beforeSeq }: SeqRange): Partial<Record<JobState, number>> {
    const query = 'SELECT COUNT(*) AS n FROM jobs INDEXED BY jobs_state WHERE state = ? AND seq >= ? AND seq < ?'
    const counts = states.map((state) => [state, Number(this.sql.exec(query, STATE_CODES[state], fromSeq, beforeSeq).one().n)] as const)
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
}

function select(sql: SqlStorage, query: string, ...values: SqlStorageValue[]): Job[] {
  return sql
    .exec(query, ...values)
    .toArray()
    .map(toJob)
}
