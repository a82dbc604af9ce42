/** A range of older lines of a log, stored as one object in its bucket. */
export interface Segment {
  firstN: number
  lastN: number
  /** The latest time of its lines. */
  latestAtMs: number
  /** Size of the object in the bucket. */
  bytes: number
}

/** Rows about the segments in the bucket. Their table is a step of the log's schema. */
export class SegmentStore {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  add({ firstN, lastN, latestAtMs, bytes }: Segment): void {
    const query = 'INSERT OR REPLACE INTO segments (last_n, first_n, latest_at, bytes) VALUES (?, ?, ?, ?)'
    this.sql.exec(query, lastN, firstN, latestAtMs, bytes)
  }

  remove({ lastN }: Segment): void {
    this.sql.exec('DELETE FROM segments WHERE last_n = ?', lastN)
  }

  removeAll(): void {
    this.sql.exec('DELETE FROM segments')
  }

  count(): number {
    return Number(this.sql.exec('SELECT COUNT(*) AS count FROM segments').one().count)
  }

  /** Total size of all segments. */
  bytes(): number {
    return Number(this.sql.exec('SELECT COALESCE(SUM(bytes), 0) AS bytes FROM segments').one().bytes)
  }

  /** The oldest segment with a line after line `n`. */
  firstAfter(n: number): Segment | null {
    return toSegment(this.sql.exec('SELECT * FROM segments WHERE last_n > ? ORDER BY last_n LIMIT 1', n).toArray()[0])
  }

  /** The newest segment with a line before line `n`. */
  lastBefore(n: number): Segment | null {
    return toSegment(this.sql.exec('SELECT * FROM segments WHERE first_n < ? ORDER BY last_n DESC LIMIT 1', n).toArray()[0])
  }

  /** The oldest segment with a line of this time or later. */
  firstSince(atMs: number): Segment | null {
    return toSegment(this.sql.exec('SELECT * FROM segments WHERE latest_at >= ? ORDER BY last_n LIMIT 1', atMs).toArray()[0])
  }
}

function toSegment(row: Record<string, SqlStorageValue> | undefined): Segment | null {
  return row
    ? { firstN: Number(row.first_n), lastN: Number(row.last_n), latestAtMs: Number(row.latest_at), bytes: Number(row.bytes) }
    : null
}
