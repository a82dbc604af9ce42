import type { LogSourceParam } from '../../src/contract/pods/logs.ts'
import type { ArchivedLog } from '../../src/db/logs/log-archives.ts'
import { type LinePosition, lastToDrop, type StoredLine } from '../../src/domain/text/log-stream.ts'
import { SECRETS_WRITER } from '../../src/effects/pods/pod-notes.ts'
import type { LogKind, LogLine } from '../../src/host-protocol/logs.ts'
import { applySchema } from '../sql-migrations.ts'

/**
 * Schema of one log.
 * streams: highest line number accepted from each workload that writes this log.
 * lines: the tail. `end_byte` counts the bytes of the log up to this line, dropped ones included, so that no sum is ever needed.
 * segments: older lines in the bucket; `latest_at` is the latest of their times, which need not rise from line to line.
 */
const SCHEMA: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE streams (workload_id TEXT PRIMARY KEY, taken_seq INTEGER NOT NULL, taken_at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE TABLE lines (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, source TEXT NOT NULL, line TEXT NOT NULL, end_byte INTEGER NOT NULL);`,
  'CREATE TABLE segments (last_n INTEGER PRIMARY KEY, first_n INTEGER NOT NULL, latest_at INTEGER NOT NULL);',
  // Segments written before this step count with the size limit of a segment.
  'ALTER TABLE segments ADD COLUMN bytes INTEGER NOT NULL DEFAULT 262144;',
]

/** Owner of a log: see `LogAccess` of the host protocol. */
export interface LogOwner {
  kind: LogKind
  ownerId: string
}

/** Number of the oldest lines read per step of trimming the tail. */
const TRIM_STEP = 512
/** A pod that restarts repeatedly writes its log under a new workload each time; only late repeats of the last ones matter. */
const MAX_STREAMS = 64
const encoder = new TextEncoder()

/** Rows of one log. Tables are created by the first line, so that a read of a log that does not exist stores nothing. */
export class LogStore {
  private readonly storage: DurableObjectStorage
  private readonly sql: SqlStorage
  private hasTables: boolean

  constructor(storage: DurableObjectStorage) {
    this.storage = storage
    this.sql = storage.sql
    this.hasTables = this.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'lines'").toArray().length > 0
    if (this.hasTables) applySchema(storage, SCHEMA)
  }

  /** The owner of this log; null before its first line. */
  owner(): LogOwner | null {
    if (!this.hasTables) return null
    const row = this.sql.exec("SELECT value FROM meta WHERE key = 'owner'").toArray()[0]
    return row ? (JSON.parse(String(row.value)) as LogOwner) : null
  }

  setOwner(owner: LogOwner): void {
    this.sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('owner', ?)", JSON.stringify(owner))
  }

  /** The name of this log; null before its first line. A worker's log has the id of its workload, a pod's log that of the pod. */
  name(): ArchivedLog | null {
    const [owner, last] = [this.owner(), this.lastTaken()]
    return owner && last && { ...owner, id: owner.kind === 'pod' ? owner.ownerId : last.workloadId }
  }

  /** Key prefix of this log in a bucket; null before its first line. */
  objectPrefix(): string | null {
    const log = this.name()
    return log && `logs/${log.kind}/${log.id}/`
  }

  /** Whether the log ever had a line. */
  exists(): boolean {
    return this.hasTables
  }

  /** The highest line number accepted from a workload; 0 when none was. */
  takenSeq(workloadId: string): number {
    return Number(this.sql.exec('SELECT taken_seq FROM streams WHERE workload_id = ?', workloadId).toArray()[0]?.taken_seq ?? 0)
  }

  setTaken(workloadId: string, seq: number, nowMs: number): void {
    if (this.takenSeq(workloadId) === 0) this.deleteOldStreams()
    this.sql.exec('INSERT OR REPLACE INTO streams (workload_id, taken_seq, taken_at) VALUES (?, ?, ?)', workloadId, seq, nowMs)
  }

  private deleteOldStreams(): void {
    this.sql.exec(
      'DELETE FROM streams WHERE workload_id NOT IN (SELECT workload_id FROM streams ORDER BY taken_at DESC LIMIT ?)',
      MAX_STREAMS - 1,
    )
  }

  /** The workload that wrote last, and when. */
  lastTaken(): { workloadId: string; atMs: number } | null {
    if (!this.hasTables) return null
    // The plane's own lines come last: a log is not named after their writer.
    const sql = 'SELECT workload_id, taken_at FROM streams ORDER BY workload_id = ?, taken_at DESC LIMIT 1'
    const row = this.sql.exec(sql, SECRETS_WRITER).toArray()[0]
    return row ? { workloadId: String(row.workload_id), atMs: Number(row.taken_at) } : null
  }

  /** Adds lines, and drops the oldest beyond `keptFactor` times the limits of a log. */
  append(lines: readonly LogLine[], keptFactor: number): void {
    let { n, endByte } = this.newest()
    for (const { at, source, line } of lines) {
      n += 1
      endByte += encoder.encode(line).byteLength
      this.sql.exec('INSERT INTO lines (n, at, source, line, end_byte) VALUES (?, ?, ?, ?, ?)', n, at, source, line, endByte)
    }
    this.trim({ n, endByte }, keptFactor)
  }

  private trim(newest: LinePosition, keptFactor: number): void {
    for (;;) {
      const last = lastToDrop(this.oldest(TRIM_STEP), newest, keptFactor)
      if (last === null) return
      this.drop(last)
    }
  }

  /** Positions of the oldest lines of the tail. */
  oldest(limit: number): LinePosition[] {
    if (!this.hasTables) return []
    const rows = this.sql.exec('SELECT n, end_byte FROM lines ORDER BY n LIMIT ?', limit).toArray()
    return rows.map((row) => ({ n: Number(row.n), endByte: Number(row.end_byte) }))
  }

  /** Removes the oldest lines of the tail, up to and including `lastN`. */
  drop(lastN: number): void {
    this.sql.exec('DELETE FROM lines WHERE n <= ?', lastN)
  }

  /** Position of the newest line; zeros for an empty log. */
  newest(): LinePosition {
    const row = this.hasTables ? this.sql.exec('SELECT n, end_byte FROM lines ORDER BY n DESC LIMIT 1').toArray()[0] : undefined
    return { n: Number(row?.n ?? 0), endByte: Number(row?.end_byte ?? 0) }
  }

  /** Number of the line before the first one of `atMs` or later; the newest when there is none. */
  cursorBefore(atMs: number): number {
    const row = this.hasTables ? this.sql.exec('SELECT n FROM lines WHERE at >= ? ORDER BY n LIMIT 1', atMs).toArray()[0] : undefined
    return row ? Number(row.n) - 1 : this.newest().n
  }

  /** Number of the line before the last `count` lines of a source; the start of the tail when it has fewer. */
  cursorOfTail(count: number, source: LogSourceParam | undefined): number {
    if (!this.hasTables) return 0
    const filter = source === undefined ? '' : 'WHERE source = ?'
    const query = `SELECT n FROM lines ${filter} ORDER BY n DESC LIMIT 1 OFFSET ?`
    const row = this.sql.exec(query, ...(source === undefined ? [] : [source]), count).toArray()[0]
    return Number(row?.n ?? (this.oldest(1)[0]?.n ?? 1) - 1)
  }

  /** Up to `limit` lines after a cursor, oldest first. */
  after(cursor: number, source: LogSourceParam | undefined, limit: number): StoredLine[] {
    if (!this.hasTables) return []
    const filter = source === undefined ? '' : 'AND source = ?'
    const query = `SELECT n, at, source, line FROM lines WHERE n > ? ${filter} ORDER BY n LIMIT ?`
    const rows = this.sql.exec(query, cursor, ...(source === undefined ? [] : [source]), limit).toArray()
    return rows.map(toStoredLine)
  }

  /** Up to `limit` lines of the tail before line `n`, newest first. */
  before(n: number, limit: number): StoredLine[] {
    if (!this.hasTables) return []
    return this.sql.exec('SELECT n, at, source, line FROM lines WHERE n < ? ORDER BY n DESC LIMIT ?', n, limit).toArray().map(toStoredLine)
  }

  /** Number of the newest line of the tail that is older than a time; null when there is none. */
  lastBefore(atMs: number): number | null {
    const row = this.hasTables ? this.sql.exec('SELECT n FROM lines WHERE at < ? ORDER BY n DESC LIMIT 1', atMs).toArray()[0] : undefined
    return row ? Number(row.n) : null
  }

  /** The oldest lines of the tail, up to and including `lastN`. */
  upTo(lastN: number): StoredLine[] {
    return this.sql.exec('SELECT n, at, source, line FROM lines WHERE n <= ? ORDER BY n', lastN).toArray().map(toStoredLine)
  }

  /** Deletes everything, including the tables. */
  async clear(): Promise<void> {
    await this.storage.deleteAll()
    this.hasTables = false
  }

  /** Creates the tables. Must be called before the first write, outside its transaction. */
  makeTables(): void {
    if (this.hasTables) return
    applySchema(this.storage, SCHEMA)
    this.hasTables = true
  }
}

function toStoredLine(row: Record<string, SqlStorageValue>): StoredLine {
  return { n: Number(row.n), atMs: Number(row.at), source: String(row.source) as LogSourceParam, line: String(row.line) }
}
