import { MINUTE_MS, type RequestCounts, type RequestSample, SERIES_MINUTES } from '../../../src/domain/job/request-series.ts'
import { sameBut } from '../../../src/domain/same-but.ts'

const NONE: ReadonlySet<string> = new Set()

/**
 * The totals of an endpoint over time: one row per minute in which they changed, so that counting costs no write per job and a restart
 * loses nothing.
 */
export class RequestSeries {
  private readonly sql: SqlStorage
  private lastMinute: number | null = null
  private before: RequestCounts | null = null

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Called at the start of every commit, before it changes the totals. */
  begin(totals: RequestCounts): void {
    this.before = totals
  }

  /** Called at the end of every commit. */
  end(nowMs: number, totals: RequestCounts): void {
    if (this.before && !sameBut(this.before, totals, NONE)) this.sample(nowMs, this.before)
  }

  private sample(nowMs: number, totals: RequestCounts): void {
    const minute = Math.floor(nowMs / MINUTE_MS)
    if (minute === this.lastMinute) return
    const values = [minute, totals.completed, totals.failed, totals.retried]
    this.sql.exec('INSERT OR IGNORE INTO request_samples (minute, completed, failed, retried) VALUES (?, ?, ?, ?)', ...values)
    this.sql.exec('DELETE FROM request_samples WHERE minute < ?', minute - SERIES_MINUTES)
    this.lastMinute = minute
  }

  samples(): RequestSample[] {
    const rows = this.sql.exec(
      'SELECT minute, completed, failed, retried FROM request_samples ORDER BY minute /* plan: a row a minute, SERIES_MINUTES of them */',
    )
    return Array.from(rows, (row) => ({
      minute: Number(row.minute),
      completed: Number(row.completed),
      failed: Number(row.failed),
      retried: Number(row.retried),
    }))
  }

  /** Drops the cache after a rollback. */
  reload(): void {
    this.lastMinute = null
  }
}
