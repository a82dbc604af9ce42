import { IDEMPOTENCY_RETENTION_MS, type KeyRecord } from '../../../../src/domain/idempotency.ts'
import type { KeyRows } from '../../../../src/queue/state.ts'

/** Expired keys removed with each new one, so that the table shrinks faster than it grows. */
const SWEEP_ROWS = 20

/** Idempotency keys of submits, per user. */
export class IdempotencyStore implements KeyRows {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  find(userId: string, key: string): KeyRecord | null {
    const row = this.sql.exec('SELECT * FROM idempotency_keys WHERE user_id = ? AND key = ?', userId, key).toArray()[0]
    return row ? { fingerprint: String(row.fingerprint), jobId: String(row.job_id), createdAtMs: Number(row.created_at) } : null
  }

  /** Stores a key; replaces an expired record under the same key. */
  put(userId: string, key: string, record: KeyRecord): void {
    this.sweep(record.createdAtMs)
    this.sql.exec(
      'INSERT OR REPLACE INTO idempotency_keys (user_id, key, fingerprint, job_id, created_at) VALUES (?, ?, ?, ?, ?)',
      userId,
      key,
      record.fingerprint,
      record.jobId,
      record.createdAtMs,
    )
  }

  /** Removes all keys once the endpoint is deleted, since no request follows. */
  clear(): void {
    this.sql.exec('DELETE FROM idempotency_keys')
  }

  /** Deletes expired keys, a few rows at a time. */
  sweep(nowMs: number): void {
    this.sql.exec(
      `DELETE FROM idempotency_keys WHERE rowid IN
         (SELECT rowid FROM idempotency_keys WHERE created_at <= ? ORDER BY created_at LIMIT ${SWEEP_ROWS})`,
      nowMs - IDEMPOTENCY_RETENTION_MS,
    )
  }
}
