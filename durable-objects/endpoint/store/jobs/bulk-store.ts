import type { JobState } from '../../../../src/contract/enums.ts'
import type { BulkAction, BulkCounts, LeftJob } from '../../../../src/queue/bulk.ts'

/** A bulk change: many jobs that are cancelled or queued again, in steps. */
export interface Bulk extends BulkCounts {
  id: string
  action: BulkAction
  /** Selects among the jobs that existed at the time of the request. */
  want: BulkScope
  matched: number
  byStatus: Partial<Record<JobState, number>>
  sample: string[]
  /** Requested jobs that cannot be changed; status null: ids without a job. */
  refused: { status: JobState | null; jobs: number }[]
  /** The first skipped jobs. */
  left: LeftJob[]
  estimatedCostUsd: number | null
  /** Sequence number up to which jobs have been processed. */
  position: number
  createdAtMs: number
  finishedAtMs: number | null
}

/** The jobs that a bulk change selects: by state, by the time of their submit (`fromMs` inclusive, `toMs` exclusive), and by number. */
export interface BulkScope {
  states: JobState[]
  fromMs: number | null
  toMs: number | null
  fromSeq: number
  beforeSeq: number
  /** Sequence numbers of jobs that the request names, ascending; null: it names none. */
  seqs: number[] | null
}

/** Number of finished bulk changes retained. */
const MAX_KEPT = 100

/** The bulk changes of an endpoint's jobs: the running one and the finished ones. */
export class BulkStore {
  private readonly sql: SqlStorage
  private goingOn: boolean | null = null

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Cached in memory, because every commit reads it. */
  get hasRunning(): boolean {
    this.goingOn ??= this.running().length > 0
    return this.goingOn
  }

  /** Drops the cache after a rollback. */
  reload(): void {
    this.goingOn = null
  }

  save(bulk: Bulk): void {
    this.reload()
    this.sql.exec(
      'INSERT OR REPLACE INTO bulks (id, created_at, finished_at, bulk) VALUES (?, ?, ?, ?)',
      bulk.id,
      bulk.createdAtMs,
      bulk.finishedAtMs,
      JSON.stringify(bulk),
    )
    if (bulk.finishedAtMs === null) return
    this.sql.exec(
      `DELETE FROM bulks WHERE id IN
         (SELECT id FROM bulks WHERE finished_at IS NOT NULL ORDER BY created_at DESC LIMIT -1 OFFSET ?) /* plan: few rows are kept */`,
      MAX_KEPT,
    )
  }

  get(id: string): Bulk | null {
    return this.read('SELECT bulk FROM bulks WHERE id = ?', id)[0] ?? null
  }

  /** Running bulk changes, oldest first. */
  running(): Bulk[] {
    return this.read('SELECT bulk FROM bulks WHERE finished_at IS NULL ORDER BY created_at, id /* plan: few rows are kept */')
  }

  /** The text was written by `save`; rows of an earlier release lack `refused` and `left`. */
  private read(query: string, ...values: SqlStorageValue[]): Bulk[] {
    return (
      this.sql
        .exec(query, ...values)
        .toArray()
        // The column holds what `save` wrote; bulks of the first release have neither `refused` nor `left`.
        .map((row) => ({ refused: [], left: [], ...(JSON.parse(String(row.bulk)) as object) }) as unknown as Bulk)
    )
  }
}
