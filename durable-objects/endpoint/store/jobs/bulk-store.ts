import type { JobState } from '../../../../src/contract/enums.ts'
import type { BulkAction, BulkCounts, LeftJob } from '../../../../src/queue/bulk.ts'

/** Many jobs that are cancelled or queued again, step by step. */
export interface Bulk extends BulkCounts {
  id: string
  action: BulkAction
  /** Of the jobs that were there when it was asked for. */
  want: BulkWant
  matched: number
  byStatus: Partial<Record<JobState, number>>
  sample: string[]
  /** Jobs that were asked for and cannot be changed; null: ids of none. */
  refused: { status: JobState | null; jobs: number }[]
  /** The first that were skipped. */
  left: LeftJob[]
  estimatedCostUsd: number | null
  /** Numbers up to here have had their turn; with ids, so many of them. */
  position: number
  createdAtMs: number
  finishedAtMs: number | null
}

export interface BulkWant {
  states: JobState[]
  fromMs: number | null
  toMs: number | null
  fromSeq: number
  beforeSeq: number
  /** Numbers of jobs that were named, ascending; null: none were. */
  seqs: number[] | null
}

/** Those that are over stay readable, at most so many. */
const MAX_KEPT = 100

export class BulkStore {
  private readonly sql: SqlStorage
  private goingOn: boolean | null = null

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Kept in memory: every commit asks. */
  get hasRunning(): boolean {
    this.goingOn ??= this.running().length > 0
    return this.goingOn
  }

  /** After a transaction that was rolled back. */
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

  /** Those that go on, oldest first. */
  running(): Bulk[] {
    return this.read('SELECT bulk FROM bulks WHERE finished_at IS NULL ORDER BY created_at, id /* plan: few rows are kept */')
  }

  /** The text is what `save` made of a bulk; one of a former release lacks what it refused and left. */
  private read(query: string, ...values: SqlStorageValue[]): Bulk[] {
    return this.sql
      .exec(query, ...values)
      .toArray()
      .map((row) => ({ refused: [], left: [], ...(JSON.parse(String(row.bulk)) as object) }) as unknown as Bulk)
  }
}
