import type { LinePack } from '../../src/domain/logs/line-pack.ts'
import type { LinePosition } from '../../src/domain/text/log-stream.ts'

/** The highest line number accepted from a workload, and when. */
export interface Mark {
  workloadId: string
  seq: number
  atMs: number
}

/** The newest pack without its lines, and what it says about the log. */
export interface NewestPack extends Pick<LinePack, 'firstN' | 'lastN' | 'endByte' | 'bytes'> {
  /** Position of the last line that the tail dropped; lines up to it may still be in the oldest pack. */
  dropped: LinePosition
  /** The mark of the workload that wrote last; null when a release without packs wrote since. */
  mark: Mark | null
}

type PackText = Pick<LinePack, 'firstN' | 'lastN' | 'text'>

/** Packs read per statement of a walk: one first, because most readers need one. */
const MAX_STEP = 16

/** Rows of the packs of one log. The caller makes sure that their table exists. */
export class PackStore {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Null for an empty log. */
  newest(): NewestPack | null {
    const query = `SELECT first_n, last_n, end_byte, bytes, dropped_n, dropped_end_byte, workload_id, taken_seq, taken_at
      FROM packs ORDER BY first_n DESC LIMIT 1`
    const row = this.sql.exec(query).toArray()[0]
    if (!row) return null
    return {
      firstN: Number(row.first_n),
      lastN: Number(row.last_n),
      endByte: Number(row.end_byte),
      bytes: Number(row.bytes),
      dropped: { n: Number(row.dropped_n), endByte: Number(row.dropped_end_byte) },
      mark:
        row.workload_id === null ? null : { workloadId: String(row.workload_id), seq: Number(row.taken_seq), atMs: Number(row.taken_at) },
    }
  }

  /** Adds the newest pack. */
  insert(pack: LinePack, dropped: LinePosition, { workloadId, seq, atMs }: Mark): void {
    this.sql.exec(
      `INSERT INTO packs (first_n, last_n, earliest_at, latest_at, end_byte, bytes, dropped_n, dropped_end_byte, workload_id, taken_seq,
         taken_at, lines)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[pack.firstN, pack.lastN, pack.earliestAtMs, pack.latestAtMs, pack.endByte, pack.bytes],
      ...[dropped.n, dropped.endByte, workloadId, seq, atMs, pack.text],
    )
  }

  /** Adds lines to the newest pack, which begins with line `firstN`. */
  join(firstN: number, pack: LinePack, dropped: LinePosition, { workloadId, seq, atMs }: Mark): void {
    this.sql.exec(
      `UPDATE packs SET last_n = ?, earliest_at = MIN(earliest_at, ?), latest_at = MAX(latest_at, ?), end_byte = ?, bytes = bytes + 1 + ?,
         dropped_n = ?, dropped_end_byte = ?, workload_id = ?, taken_seq = ?, taken_at = ?, lines = lines || ',' || ?
       WHERE first_n = ?`,
      ...[pack.lastN, pack.earliestAtMs, pack.latestAtMs, pack.endByte, pack.bytes],
      ...[dropped.n, dropped.endByte, workloadId, seq, atMs, pack.text, firstN],
    )
  }

  /** Notes which line the tail dropped last, in the newest pack, which begins with line `firstN`. */
  setDropped(firstN: number, { n, endByte }: LinePosition): void {
    this.sql.exec('UPDATE packs SET dropped_n = ?, dropped_end_byte = ? WHERE first_n = ?', n, endByte, firstN)
  }

  /** Deletes the packs before the one that has line `n`, or that is the newest. */
  deleteBefore(n: number): void {
    this.sql.exec('DELETE FROM packs WHERE first_n < (SELECT MAX(first_n) FROM packs WHERE first_n <= ?)', n)
  }

  /** The packs with line `n` and later ones, oldest first. */
  from(n: number): Generator<PackText> {
    const query = `SELECT first_n, last_n, lines FROM packs
      WHERE first_n >= COALESCE((SELECT MAX(first_n) FROM packs WHERE first_n <= ?1), 0) AND last_n >= ?1 ORDER BY first_n LIMIT ?2`
    return this.inSteps(query, n, ({ lastN }) => lastN + 1)
  }

  /** The packs with lines before line `n`, newest first. */
  before(n: number): Generator<PackText> {
    const query = 'SELECT first_n, last_n, lines FROM packs WHERE first_n < ? ORDER BY first_n DESC LIMIT ?'
    return this.inSteps(query, n, ({ firstN }) => firstN)
  }

  /** Reads packs in growing steps; `next` returns the line from which the step after a pack continues. */
  private *inSteps(query: string, fromN: number, next: (last: PackText) => number): Generator<PackText> {
    let n = fromN
    for (let limit = 1; ; limit = Math.min(2 * limit, MAX_STEP)) {
      const packs = this.sql.exec(query, n, limit).toArray().map(toPackText)
      yield* packs
      const last = packs.at(-1)
      if (!last || packs.length < limit) return
      n = next(last)
    }
  }

  /** The two oldest packs with a line of this time or later: in the first, the tail may have dropped it. */
  since(atMs: number): PackText[] {
    const query = 'SELECT first_n, last_n, lines FROM packs WHERE latest_at >= ? ORDER BY first_n LIMIT 2'
    return this.sql.exec(query, atMs).toArray().map(toPackText)
  }

  /** The newest pack with a line older than a time. */
  lastBefore(atMs: number): PackText | null {
    const query = 'SELECT first_n, last_n, lines FROM packs WHERE earliest_at < ? ORDER BY first_n DESC LIMIT 1'
    const row = this.sql.exec(query, atMs).toArray()[0]
    return row ? toPackText(row) : null
  }
}

function toPackText(row: Record<string, SqlStorageValue>): PackText {
  return { firstN: Number(row.first_n), lastN: Number(row.last_n), text: String(row.lines) }
}
