import type { PastAttempt, PastOutcome } from '../../../../src/domain/job/timeline.ts'
import type { AttemptRows } from '../../../../src/queue/state.ts'

/**
 * Attempts of jobs that were queued again. The last attempt of a job is in the job's own row, so that a job with one attempt costs no row
 * here.
 */
export class AttemptStore implements AttemptRows {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  add(job: number, { attempt, workerId, startedAtMs, endedAtMs, outcome, reason, requeuedAtMs }: PastAttempt): void {
    this.sql.exec(
      `INSERT OR REPLACE INTO attempts (job, attempt, worker_id, started_at, ended_at, outcome, reason, requeued_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      job,
      attempt,
      workerId,
      startedAtMs,
      endedAtMs,
      outcome,
      reason,
      requeuedAtMs,
    )
  }

  /** The newest attempts of a job, oldest first. */
  of(job: number, limit: number): PastAttempt[] {
    const rows = this.sql.exec('SELECT * FROM attempts WHERE job = ? ORDER BY attempt DESC LIMIT ?', job, limit).toArray().reverse()
    return rows.map((row) => ({
      attempt: Number(row.attempt),
      workerId: String(row.worker_id),
      startedAtMs: Number(row.started_at),
      endedAtMs: Number(row.ended_at),
      outcome: String(row.outcome) as PastOutcome,
      reason: typeof row.reason === 'string' ? row.reason : null,
      requeuedAtMs: Number(row.requeued_at),
    }))
  }

  clear(job: number): void {
    this.sql.exec('DELETE FROM attempts WHERE job = ?', job)
  }
}
