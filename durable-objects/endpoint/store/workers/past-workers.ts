/** A log is retained for a day or two after its last line (LOG-11), and a worker's last line may arrive a while after it has left. */
const REMEMBERED_MS = 3 * 24 * 3_600_000

/** Workers that have left, retained as long as their logs may exist (LOG-21). */
export class PastWorkers {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  add(id: string, nowMs: number): void {
    this.sql.exec('DELETE FROM former_workers WHERE left_at < ?', nowMs - REMEMBERED_MS)
    this.sql.exec('INSERT OR REPLACE INTO former_workers (id, left_at) VALUES (?, ?)', id, nowMs)
  }

  has(id: string): boolean {
    return this.sql.exec('SELECT 1 FROM former_workers WHERE id = ?', id).toArray().length > 0
  }
}
