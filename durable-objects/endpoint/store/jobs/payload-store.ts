import { INPUT, OUTPUT, type PayloadKind, type PayloadRows, S3_CONFIG } from '../../../../src/queue/state.ts'
import { encodePieces } from '../../../piece-store.ts'
import { textOrNull } from '../row-values.ts'

/** Texts up to this many UTF-16 units are stored in the row of their job: at most 6 KiB each. */
export const SHORT_TEXT_UNITS = 2_048
const COLUMNS = { [INPUT]: 'input', [OUTPUT]: 'output' } as const
/** Texts up to this many UTF-16 units fit in one row whatever their content (at most 3 bytes each in UTF-8). */
const SMALL_TEXT_UNITS = 256 * 1024
const MAX_CHUNK_ROW_BYTES = 1_900_000
const MAX_CHUNK_ROW_CHARS = 600_000
/** Limits of undelivered chunks per job, so that a worker cannot fill the object. */
const MAX_CHUNKS_PER_JOB = 20_000
const MAX_CHUNK_BYTES_PER_JOB = 64 * 1024 * 1024
/** Approximate limits of one reply of `/stream`. */
const DRAIN_CHUNKS = 2_000
const DRAIN_BYTES = 4 * 1024 * 1024

/** One chunk of a job's stream: its number from 1 and its JSON text. */
export interface StreamChunk {
  number: number
  json: string
}

/** Inputs, outputs and s3Configs of jobs: short ones in the job's row, long ones in pieces below the platform's row limit. */
export class PayloadStore implements PayloadRows {
  private readonly sql: SqlStorage
  /** Buffered chunks of each streaming job, so that an append does not count rows. Read from the rows when absent. */
  private readonly kept = new Map<number, { chunks: number; bytes: number }>()

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /**
   * Returns a short text, which belongs in the job's row (JOB-23); stores a long one in pieces and returns null. The job must have no
   * pieces of this kind.
   */
  beside(job: number, kind: keyof typeof COLUMNS, text: string): string | null {
    if (text.length <= SHORT_TEXT_UNITS) return text
    this.insertPieces(job, kind, text)
    return null
  }

  setOutput(job: number, text: string): void {
    this.clearPieces(job, OUTPUT)
    this.sql.exec('UPDATE jobs SET output = ? WHERE seq = ?', this.beside(job, OUTPUT, text), job)
  }

  setS3Config(job: number, sealed: string): void {
    this.insertPieces(job, S3_CONFIG, sealed)
  }

  private insertPieces(job: number, kind: PayloadKind, text: string): void {
    if (text.length <= SMALL_TEXT_UNITS) {
      this.sql.exec('INSERT INTO pieces (job, kind, part, data) VALUES (?, ?, 0, ?)', job, kind, text)
      return
    }
    let part = 0
    for (const piece of encodePieces([text])) {
      this.sql.exec('INSERT INTO pieces (job, kind, part, data) VALUES (?, ?, ?, ?)', job, kind, part++, piece.slice().buffer)
    }
  }

  get(job: number, kind: PayloadKind): string | undefined {
    const short = this.short(job, kind)
    if (short !== null) return short
    const rows = this.sql.exec('SELECT data FROM pieces WHERE job = ? AND kind = ? ORDER BY part', job, kind).toArray()
    const first = rows[0]?.data
    if (first === undefined) return undefined
    if (typeof first === 'string') return first
    const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
    return rows.map((row) => decoder.decode(row.data as ArrayBuffer, { stream: true })).join('') + decoder.decode()
  }

  /** The text when it has at most `maxChars` characters; null when it is longer, without reading it; undefined when there is none. */
  getShort(job: number, kind: PayloadKind, maxChars: number): string | null | undefined {
    const short = this.short(job, kind)
    if (short !== null) return short.length <= maxChars ? short : null
    const query = 'SELECT CASE WHEN length(data) <= ? THEN data END AS data FROM pieces WHERE job = ? AND kind = ? AND part = 0'
    const row = this.sql.exec(query, maxChars, job, kind).toArray()[0]
    return row && (typeof row.data === 'string' ? row.data : null)
  }

  /** Length of a text, in bytes for a long one (which is not read) and in characters for a short one. */
  size(job: number, kind: PayloadKind): number {
    const short = this.short(job, kind)
    if (short !== null) return short.length
    const query = 'SELECT COALESCE(SUM(length(data)), 0) AS size FROM pieces WHERE job = ? AND kind = ?'
    return Number(this.sql.exec(query, job, kind).one().size)
  }

  /** The first `maxBytes` bytes of a text, cut at a character boundary, and its length in bytes of UTF-8. */
  beginning(job: number, kind: PayloadKind, maxBytes: number): { text: string; bytes: number } | null {
    const short = this.short(job, kind)
    if (short !== null) {
      const bytes = new TextEncoder().encode(short)
      return { text: textOf(bytes.subarray(0, maxBytes)), bytes: bytes.length }
    }
    const query = `SELECT substr(CAST(data AS BLOB), 1, ?) AS begin, length(CAST(data AS BLOB)) AS bytes
      FROM pieces WHERE job = ? AND kind = ? ORDER BY part`
    const rows = this.sql.exec(query, maxBytes, job, kind).toArray()
    const [first] = rows
    if (!first) return null
    return { text: textOf(first.begin as ArrayBuffer), bytes: rows.reduce((sum, row) => sum + Number(row.bytes), 0) }
  }

  private short(job: number, kind: PayloadKind): string | null {
    if (kind === S3_CONFIG) return null
    const row = this.sql.exec(`SELECT ${COLUMNS[kind]} AS text FROM jobs WHERE seq = ?`, job).toArray()[0]
    return textOrNull(row?.text ?? null)
  }

  private clearPieces(job: number, kind: PayloadKind): void {
    this.sql.exec('DELETE FROM pieces WHERE job = ? AND kind = ?', job, kind)
  }

  /** Deletes pieces of an ended job: its output, and its input and s3Config unless it may run again (CTL-2). */
  clearEnded(job: number, keepInput: boolean): void {
    if (keepInput) this.clearPieces(job, OUTPUT)
    else this.sql.exec('DELETE FROM pieces WHERE job = ?', job)
  }

  /** LSE-12: deletes the output and chunks of an attempt. */
  clearAttempt(job: number): void {
    this.sql.exec('UPDATE jobs SET output = NULL WHERE seq = ? AND output IS NOT NULL', job)
    this.clearPieces(job, OUTPUT)
    this.discardChunks(job)
  }

  /** Deletes pieces and chunks of a job whose row is deleted. */
  clearJob(job: number): void {
    this.sql.exec('DELETE FROM pieces WHERE job = ?', job)
    this.discardChunks(job)
  }

  /** Appends the chunk with this number to a job's stream; false when the job has reached the limit of buffered chunks. */
  appendChunk(job: number, number: number, json: string): boolean {
    // Escaping and wrapping may have made it larger than the posted chunk, and a row has a size limit.
    if (json.length > MAX_CHUNK_ROW_CHARS && new TextEncoder().encode(json).length > MAX_CHUNK_ROW_BYTES) return false
    const kept = this.kept.get(job) ?? this.countChunks(job)
    if (kept.chunks >= MAX_CHUNKS_PER_JOB || kept.bytes + json.length > MAX_CHUNK_BYTES_PER_JOB) return false
    this.sql.exec('INSERT INTO chunks (job, number, bytes, data) VALUES (?, ?, ?, ?)', job, number, json.length, json)
    this.kept.set(job, { chunks: kept.chunks + 1, bytes: kept.bytes + json.length })
    return true
  }

  /** Drops the cache after a rollback. */
  reload(): void {
    this.kept.clear()
  }

  private countChunks(job: number): { chunks: number; bytes: number } {
    const row = this.sql.exec('SELECT COUNT(*) AS n, COALESCE(SUM(bytes), 0) AS bytes FROM chunks WHERE job = ?', job).one()
    return { chunks: Number(row.n), bytes: Number(row.bytes) }
  }

  /** STR-4: removes and returns the oldest buffered chunks, up to the limit of one reply; `more`: whether any are left. */
  drainChunks(job: number, maxBytes = DRAIN_BYTES): { chunks: string[]; more: boolean } {
    const chunks = this.readChunks(job, 0, maxBytes)
    const last = chunks.at(-1)
    if (last) this.sql.exec('DELETE FROM chunks WHERE job = ? AND number <= ?', job, last.number)
    this.kept.delete(job)
    return { chunks: chunks.map(({ json }) => json), more: this.hasChunks(job) }
  }

  /** Buffered chunks with a number above `after`, in order, up to the limit of one reply: at least one if there are any. */
  readChunks(job: number, after: number, maxBytes = DRAIN_BYTES): StreamChunk[] {
    const chunks: StreamChunk[] = []
    let bytes = 0
    // Read row by row, so that a long stream is never in memory as a whole.
    const query = 'SELECT number, bytes, data FROM chunks WHERE job = ? AND number > ? ORDER BY number LIMIT ?'
    for (const row of this.sql.exec(query, job, after, DRAIN_CHUNKS)) {
      bytes += Number(row.bytes)
      if (chunks.length > 0 && bytes > maxBytes) break
      chunks.push({ number: Number(row.number), json: String(row.data) })
    }
    return chunks
  }

  hasChunks(job: number): boolean {
    return this.sql.exec('SELECT 1 FROM chunks WHERE job = ? LIMIT 1', job).toArray().length > 0
  }

  discardChunks(job: number): void {
    this.kept.delete(job)
    this.sql.exec('DELETE FROM chunks WHERE job = ?', job)
  }
}

/** Decodes without a trailing incomplete character. */
function textOf(bytes: ArrayBuffer | Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true })
}
