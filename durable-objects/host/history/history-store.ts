import { type Chunk, chunkMs, LEVELS, type Level } from '../../../src/domain/history/chunk.ts'
import { decodeChunk, encodeChunk } from '../../../src/domain/history/chunk-bytes.ts'

/** Size of a level's range of places in the table; more than any level has chunks. */
const LEVEL_PLACES = 1_000

/**
 * Chunks of samples: a ring of rows per level, so that the number of rows is bounded by the sum of the levels' chunks and no row is ever
 * deleted.
 */
export const HISTORY_SCHEMA = 'CREATE TABLE history (place INTEGER PRIMARY KEY, start INTEGER NOT NULL, data BLOB NOT NULL);'

/** Rows of one host's history (HIS-3). */
export class HistoryStore {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Stores a chunk; one row is written. */
  save(chunk: Chunk): void {
    this.sql.exec(
      'INSERT INTO history (place, start, data) VALUES (?, ?, ?) ON CONFLICT (place) DO UPDATE SET start = excluded.start, data = excluded.data',
      placeOf(chunk.level, chunk.startMs),
      chunk.startMs,
      encodeChunk(chunk),
    )
  }

  /** Loads a chunk; null when its place is empty or holds an older one. */
  load(level: Level, startMs: number): Chunk | null {
    return this.between(level, startMs, startMs + 1)[0] ?? null
  }

  /** The newest chunk of the finest level. */
  newest(): Chunk | null {
    const row = this.sql.exec('SELECT start, data FROM history WHERE place < ? ORDER BY start DESC LIMIT 1', LEVEL_PLACES).toArray()[0]
    return row ? decodeChunk(bytesOf(row.data), 0, Number(row.start)) : null
  }

  /** Chunks of a level that begin within a period, with all tracks or only one. */
  between(level: Level, fromMs: number, toMs: number, track?: string): Chunk[] {
    const first = level * LEVEL_PLACES
    const rows = this.sql.exec(
      'SELECT start, data FROM history WHERE place >= ? AND place < ? AND start >= ? AND start < ?',
      first,
      first + LEVELS[level].chunks,
      fromMs,
      toMs,
    )
    return Array.from(rows, (row) => decodeChunk(bytesOf(row.data), level, Number(row.start), track))
  }

  clear(): void {
    this.sql.exec('DELETE FROM history')
  }
}

function placeOf(level: Level, startMs: number): number {
  return level * LEVEL_PLACES + (Math.floor(startMs / chunkMs(level)) % LEVELS[level].chunks)
}

function bytesOf(data: SqlStorageValue | undefined): Uint8Array {
  return data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array()
}
