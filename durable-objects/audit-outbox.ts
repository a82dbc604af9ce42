import { type AuditRow, insertAuditRows } from '../src/db/audit.ts'
import { openDatabase } from '../src/db/client.ts'
import { believable } from '../src/domain/clock/step.ts'
import type { Env } from '../src/env.ts'
import { logEvent } from '../src/platform/log.ts'

/** Rows sent to D1 at a time. */
const BATCH = 20
/** Delay before an unfinished hand-over is checked again: the object may have been evicted in the middle of it. */
const GUARD_MS = 5_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000

/** The table of `AuditOutbox`; must be a step of the object's schema. */
export const AUDIT_OUTBOX_SCHEMA = 'CREATE TABLE audit_outbox (id TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID;'

interface AuditOutboxDeps {
  env: Env
  sql: SqlStorage
  now: () => number
}

/**
 * Outbox of audit log rows about objects that this Durable Object owns (adr/0025). A row is written in the transaction of its change and
 * deleted once D1 has it. A crash in between repeats the insert, which D1 deduplicates by row id.
 */
export class AuditOutbox {
  private readonly deps: AuditOutboxDeps
  private count = 0
  private draining = false
  private failures = 0
  private notBeforeMs = 0

  constructor(deps: AuditOutboxDeps) {
    this.deps = deps
    this.reload()
  }

  /** Reads the count of pending rows again; called after a rolled-back transaction. */
  reload(): void {
    this.count = Number(this.deps.sql.exec('SELECT COUNT(*) AS n FROM audit_outbox /* plan: what waits for D1, read once */').one().n)
  }

  get size(): number {
    return this.count
  }

  /** Adds a row. Must be called in the transaction of the change. */
  add(row: AuditRow): void {
    this.deps.sql.exec('INSERT INTO audit_outbox (id, row) VALUES (?, ?)', row.id, JSON.stringify(row))
    this.count += 1
  }

  /** Next time to call `drain` even without new rows, in milliseconds since the epoch; null when the outbox is empty. */
  dueAtMs(nowMs: number): number | null {
    if (this.count === 0) return null
    const notBeforeMs = believable(this.notBeforeMs, nowMs, LONGEST_RETRY_MS)
    return notBeforeMs > nowMs ? notBeforeMs : nowMs + GUARD_MS
  }

  /** Sends pending rows to D1, unless a drain is running or in backoff. Never throws. */
  async drain(): Promise<void> {
    if (this.count === 0 || this.draining || this.isToWait()) return
    this.draining = true
    try {
      while (this.count > 0) await this.drainBatch()
      this.failures = 0
    } catch (error) {
      this.failures += 1
      this.notBeforeMs = this.deps.now() + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.failures - 1))
      logEvent('warn', 'audit rows could not be handed over', { rows: this.count, error })
    } finally {
      this.draining = false
    }
  }

  private isToWait(): boolean {
    const nowMs = this.deps.now()
    return nowMs < believable(this.notBeforeMs, nowMs, LONGEST_RETRY_MS)
  }

  private async drainBatch(): Promise<void> {
    const { env, sql } = this.deps
    const rows = sql.exec('SELECT id, row FROM audit_outbox ORDER BY id LIMIT ? /* plan: stops at the limit */', BATCH).toArray()
    await insertAuditRows(
      openDatabase(env.DB),
      rows.map(({ row }) => JSON.parse(String(row)) as AuditRow),
    )
    for (const { id } of rows) sql.exec('DELETE FROM audit_outbox WHERE id = ?', id)
    this.count -= rows.length
  }
}
