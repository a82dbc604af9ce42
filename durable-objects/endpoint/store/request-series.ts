import { MINUTE_MS, type RequestCounts, type RequestSample, SERIES_MINUTES } from '../../../src/domain/job/request-series.ts'

/**
 * The totals of an endpoint over time: one row a minute in which anything was committed, so that counting costs no write per job and
 * a restart loses nothing.
 */
export class RequestSeries {
  private readonly sql: SqlStorage
  private lastMinute: number | null = null

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** At the start of every commit, before anything of it counts. */
  sample(nowMs: number, totals: RequestCounts): void {
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

  /** After a transaction that was rolled back. */
  reload(): void {
    this.lastMinute = null
  }
}
