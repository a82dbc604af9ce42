import { POD_LOG_SCHEMA } from '../../../durable-objects/pod-log/log-schema.ts'
import { applySchema } from '../../../durable-objects/sql-migrations.ts'
import { type LinePosition, lastToDrop } from '../../../src/domain/text/log-stream.ts'
import type { LogLine } from '../../../src/host-protocol/logs.ts'

/** The schema of a log before its lines were packed. */
export const PREVIOUS_SCHEMA = POD_LOG_SCHEMA.slice(
  0,
  POD_LOG_SCHEMA.findIndex((step) => step.includes('CREATE TABLE packs')),
)
const encoder = new TextEncoder()

/** The statements of the release that stored each line as a row. */
export class PreviousLog {
  private readonly storage: DurableObjectStorage
  private readonly sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.storage = storage
    this.sql = storage.sql
  }

  /** Does the same as its constructor, which applied no step that it did not know. */
  start(): void {
    applySchema(this.storage, PREVIOUS_SCHEMA)
  }

  newest(): LinePosition {
    return this.oldest('SELECT n, end_byte FROM lines ORDER BY n DESC LIMIT ?', 1)[0] ?? { n: 0, endByte: 0 }
  }

  private oldest(query: string, limit: number): LinePosition[] {
    return this.sql
      .exec(query, limit)
      .toArray()
      .map((row) => ({ n: Number(row.n), endByte: Number(row.end_byte) }))
  }

  append(lines: readonly LogLine[], workloadId: string, nowMs: number, keptFactor: number): void {
    let { n, endByte } = this.newest()
    for (const { at, source, line } of lines) {
      n += 1
      endByte += encoder.encode(line).byteLength
      this.sql.exec('INSERT INTO lines (n, at, source, line, end_byte) VALUES (?, ?, ?, ?, ?)', n, at, source, line, endByte)
    }
    for (;;) {
      const last = lastToDrop(this.oldest('SELECT n, end_byte FROM lines ORDER BY n LIMIT ?', 512), { n, endByte }, keptFactor)
      if (last === null) break
      this.sql.exec('DELETE FROM lines WHERE n <= ?', last.n)
    }
    if (this.takenSeq(workloadId) === 0)
      this.sql.exec('DELETE FROM streams WHERE workload_id NOT IN (SELECT workload_id FROM streams ORDER BY taken_at DESC LIMIT ?)', 63)
    const query = 'INSERT OR REPLACE INTO streams (workload_id, taken_seq, taken_at) VALUES (?, ?, ?)'
    this.sql.exec(query, workloadId, lines.at(-1)?.seq ?? 0, nowMs)
  }

  takenSeq(workloadId: string): number {
    return Number(this.sql.exec('SELECT taken_seq FROM streams WHERE workload_id = ?', workloadId).toArray()[0]?.taken_seq ?? 0)
  }

  lines(): { n: number; at: number; source: string; line: string; end_byte: number }[] {
    return this.sql
      .exec<{ n: number; at: number; source: string; line: string; end_byte: number }>(
        'SELECT n, at, source, line, end_byte FROM lines WHERE n > ? ORDER BY n LIMIT ?',
        0,
        100_000,
      )
      .toArray()
  }
}
