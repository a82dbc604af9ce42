import type { Job } from '../../../src/domain/job/job.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { OutboxRows } from '../../../src/queue/state.ts'
import { encodePieces, PieceStore } from '../../piece-store.ts'

/** Reached only when the sender accepts nothing for a long time; it never refuses on account of the receivers. */
const MAX_ROWS = 100_000
const MAX_BYTES = 2 * 2 ** 30
/** An operation that ends many jobs pauses once it has written this much, so that it does not block other calls. */
const MAX_BYTES_PER_OPERATION = 32 * 2 ** 20

/** A notification that waits for its hand-over. */
export interface OutboxRow {
  n: number
  deliveryId: string
  jobId: string
  url: string
  bytes: number
}

/**
 * Notifications of ended jobs. A row is written in the transaction of the terminal state and deleted once the team's sender has it. A crash
 * in between repeats the hand-over, which the sender deduplicates by delivery id.
 */
export class OutboxStore implements OutboxRows {
  private readonly sql: SqlStorage
  private readonly pieces: PieceStore
  private count = 0
  private bytes = 0

  constructor(sql: SqlStorage) {
    this.sql = sql
    this.pieces = new PieceStore(sql, 'outbox_pieces')
    this.reload()
  }

  /** Reads the counts from the rows: at start and after a rollback. */
  reload(): void {
    const row = this.sql
      .exec('SELECT COUNT(*) AS n, COALESCE(SUM(bytes), 0) AS bytes FROM outbox /* plan: at most MAX_ROWS, read once */')
      .one()
    this.count = Number(row.n)
    this.bytes = Number(row.bytes)
  }

  get size(): number {
    return this.count
  }

  meter(): () => boolean {
    const before = this.bytes
    return () => this.bytes - before >= MAX_BYTES_PER_OPERATION
  }

  add(job: Job, url: string, texts: readonly string[]): void {
    if (this.count >= MAX_ROWS || this.bytes >= MAX_BYTES) {
      logEvent('error', 'webhook dropped: the outbox is full', { jobId: job.id, rows: this.count, bytes: this.bytes })
      return
    }
    const id = `msg_${crypto.randomUUID().replaceAll('-', '')}`
    const row = this.sql.exec('INSERT INTO outbox (delivery_id, job_id, url, bytes) VALUES (?, ?, ?, 0) RETURNING n', id, job.id, url).one()
    const n = Number(row.n)
    let bytes = 0
    let part = 0
    for (const piece of encodePieces(texts)) {
      this.pieces.insert(n, part++, piece)
      bytes += piece.length
    }
    this.sql.exec('UPDATE outbox SET bytes = ? WHERE n = ?', bytes, n)
    this.count += 1
    this.bytes += bytes
  }

  /** The notifications that have waited longest. */
  first(limit: number): OutboxRow[] {
    const rows = this.sql
      .exec('SELECT n, delivery_id, job_id, url, bytes FROM outbox ORDER BY n LIMIT ? /* plan: stops at the limit */', limit)
      .toArray()
    return rows.map((row) => ({
      n: Number(row.n),
      deliveryId: String(row.delivery_id),
      jobId: String(row.job_id),
      url: String(row.url),
      bytes: Number(row.bytes),
    }))
  }

  body({ n, bytes }: OutboxRow): ReadableStream<Uint8Array> {
    return this.pieces.stream(n, bytes)
  }

  remove(rows: readonly OutboxRow[]): void {
    for (const row of rows) {
      this.sql.exec('DELETE FROM outbox WHERE n = ?', row.n)
      this.pieces.remove(row.n)
      this.count -= 1
      this.bytes -= row.bytes
    }
  }
}
