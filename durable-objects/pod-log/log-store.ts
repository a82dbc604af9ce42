import type { LogSourceParam } from '../../src/contract/logs/stream.ts'
import type { ArchivedLog } from '../../src/db/logs/log-archives.ts'
import { isJoined, type LinePack, linesOf, packLines, positionsOf } from '../../src/domain/logs/line-pack.ts'
import { type LinePosition, lastToDrop, nextAfter, type StoredLine } from '../../src/domain/text/log-stream.ts'
import { SECRETS_WRITER } from '../../src/effects/pods/pod-notes.ts'
import type { LogKind, LogLine } from '../../src/host-protocol/logs.ts'
import { applySchema } from '../sql-migrations.ts'
import { POD_LOG_SCHEMA } from './log-schema.ts'
import { type Mark, type NewestPack, PackStore } from './pack-store.ts'

/** Owner of a log: see `LogAccess` of the host protocol. */
export interface LogOwner {
  kind: LogKind
  ownerId: string
}

/** A pod that restarts repeatedly writes its log under a new workload each time; only late repeats of the last ones matter. */
const MAX_STREAMS = 64
const NO_LINE: LinePosition = { n: 0, endByte: 0 }

/** Rows of one log. Tables are created by the first line, so that a read of a log that does not exist stores nothing. */
export class LogStore {
  private readonly storage: DurableObjectStorage
  private readonly sql: SqlStorage
  private readonly packs: PackStore
  private hasTables: boolean

  constructor(storage: DurableObjectStorage) {
    this.storage = storage
    this.sql = storage.sql
    this.packs = new PackStore(storage.sql)
    this.hasTables = this.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'lines'").toArray().length > 0
    if (this.hasTables) applySchema(storage, POD_LOG_SCHEMA)
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
    const mark = this.packs.newest()?.mark
    if (mark?.workloadId === workloadId) return mark.seq
    return Number(this.sql.exec('SELECT taken_seq FROM marks WHERE workload_id = ?', workloadId).toArray()[0]?.taken_seq ?? 0)
  }

  /** The newest pack will have the mark of this workload, so that of the workload before it needs a row. */
  private keepMark(last: Mark | null, workloadId: string): void {
    if (last?.workloadId === workloadId) return
    const isNew = this.takenSeq(workloadId) === 0
    if (last) {
      const query = 'INSERT OR REPLACE INTO marks (workload_id, taken_seq, taken_at) VALUES (?, ?, ?)'
      this.sql.exec(query, last.workloadId, last.seq, last.atMs)
    }
    if (isNew) this.deleteOldMarks()
  }

  private deleteOldMarks(): void {
    this.sql.exec(
      'DELETE FROM marks WHERE workload_id NOT IN (SELECT workload_id FROM marks ORDER BY taken_at DESC LIMIT ?)',
      MAX_STREAMS - 1,
    )
  }

  /** The workload that wrote last, and when. The plane's own lines come last: a log is not named after their writer. */
  lastTaken(): Pick<Mark, 'workloadId' | 'atMs'> | null {
    if (!this.hasTables) return null
    const last = this.packs.newest()?.mark ?? null
    const sql = 'SELECT workload_id, taken_at FROM marks WHERE workload_id <> ? ORDER BY workload_id = ?, taken_at DESC LIMIT 1'
    const row = this.sql.exec(sql, last?.workloadId ?? '', SECRETS_WRITER).toArray()[0]
    const other = row ? { workloadId: String(row.workload_id), atMs: Number(row.taken_at) } : null
    if (!last || !other) return last ?? other
    if (last.workloadId === SECRETS_WRITER) return other
    return other.workloadId !== SECRETS_WRITER && other.atMs > last.atMs ? other : last
  }

  /** Adds lines of one workload, and drops the oldest beyond `keptFactor` times the limits of a log. */
  append(lines: readonly LogLine[], mark: Mark, keptFactor: number): void {
    const before = this.packs.newest()
    const packs = packLines(lines, positionOf(before))
    const newest = packs.at(-1)
    if (!newest) return
    this.keepMark(before?.mark ?? null, mark.workloadId)
    const dropped = this.droppedFor(before, packs, positionOf(newest), keptFactor)
    for (const pack of packs) {
      if (pack === packs[0] && before && isJoined(before, pack)) this.packs.join(before.firstN, pack, dropped, mark)
      else if (pack === newest || pack.lastN > dropped.n) this.packs.insert(pack, dropped, mark)
    }
    if (dropped.n > (before?.dropped.n ?? 0)) this.packs.deleteBefore(dropped.n + 1)
  }

  /** Position of the last line to drop, when `packs` follow the stored ones and end at `newest`. */
  private droppedFor(before: NewestPack | null, packs: readonly LinePack[], newest: LinePosition, keptFactor: number): LinePosition {
    const dropped = before?.dropped ?? NO_LINE
    if (lastToDrop([nextAfter(dropped)], newest, keptFactor) === null) return dropped
    const stored = lastToDrop(this.positionsAfter(dropped.n), newest, keptFactor) ?? dropped
    const isWhole = stored.n === (before?.lastN ?? 0)
    return (isWhole ? lastToDrop(packs.flatMap(positionsOf), newest, keptFactor) : null) ?? stored
  }

  private *positionsAfter(n: number): Generator<LinePosition> {
    for (const pack of this.packs.from(n + 1)) for (const position of positionsOf(pack)) if (position.n > n) yield position
  }

  /** Positions of the oldest lines of the tail. */
  oldest(limit: number): LinePosition[] {
    return this.hasTables ? take(limit, this.positionsAfter(this.dropped().n)) : []
  }

  /** Removes the oldest lines of the tail, up to and including `lastN`, which is not its newest. Lines that are gone already stay so. */
  drop(lastN: number): void {
    const newest = this.packs.newest()
    if (!newest || lastN <= newest.dropped.n) return
    const [last] = take(1, this.positionsAfter(lastN - 1))
    if (!last) return
    this.packs.setDropped(newest.firstN, last)
    this.packs.deleteBefore(lastN + 1)
  }

  /** Position of the line before the oldest one of the tail; zeros when the tail has every line. */
  dropped(): LinePosition {
    return (this.hasTables ? this.packs.newest() : null)?.dropped ?? NO_LINE
  }

  /** Position of the newest line; zeros for an empty log. */
  newest(): LinePosition {
    return positionOf(this.hasTables ? this.packs.newest() : null)
  }

  /** Number of the line before the first one of `atMs` or later; the newest when there is none. */
  cursorBefore(atMs: number): number {
    if (!this.hasTables) return 0
    const { n } = this.dropped()
    const first = this.packs
      .since(atMs)
      .flatMap(linesOf)
      .find((line) => line.n > n && line.atMs >= atMs)
    return first ? first.n - 1 : this.newest().n
  }

  /** Number of the line before the last `count` lines of a source; the start of the tail when it has fewer. */
  cursorOfTail(count: number, source: LogSourceParam | undefined): number {
    const [{ n: newestN }, { n: droppedN }] = [this.newest(), this.dropped()]
    if (source === undefined) return Math.max(newestN - count, droppedN)
    return take(count + 1, this.linesBefore(newestN + 1), (line) => line.source === source)[count]?.n ?? droppedN
  }

  /** Up to `limit` lines after a cursor, oldest first. */
  after(cursor: number, source: LogSourceParam | undefined, limit: number): StoredLine[] {
    return take(limit, this.linesAfter(cursor), (line) => source === undefined || line.source === source)
  }

  /** Up to `limit` lines of the tail before line `n`, newest first. */
  before(n: number, limit: number): StoredLine[] {
    return take(limit, this.linesBefore(n))
  }

  private *linesAfter(cursor: number): Generator<StoredLine> {
    if (!this.hasTables) return
    const n = Math.max(cursor, this.dropped().n)
    for (const pack of this.packs.from(n + 1)) for (const line of linesOf(pack)) if (line.n > n) yield line
  }

  private *linesBefore(n: number): Generator<StoredLine> {
    if (!this.hasTables) return
    const dropped = this.dropped()
    for (const pack of this.packs.before(n)) {
      if (pack.lastN <= dropped.n) return
      for (const line of linesOf(pack).reverse()) if (line.n < n && line.n > dropped.n) yield line
    }
  }

  /** Number of the newest line of the tail that is older than a time; null when there is none. */
  lastBefore(atMs: number): number | null {
    const pack = this.hasTables ? this.packs.lastBefore(atMs) : null
    const last = pack && linesOf(pack).findLast((line) => line.atMs < atMs)
    return last && last.n > this.dropped().n ? last.n : null
  }

  /** The oldest lines of the tail, up to and including `lastN`. */
  upTo(lastN: number): StoredLine[] {
    return this.after(0, undefined, lastN - this.dropped().n)
  }

  /** Deletes everything, including the tables. */
  async clear(): Promise<void> {
    await this.storage.deleteAll()
    this.hasTables = false
  }

  /** Creates the tables. Must be called before the first write, outside its transaction. */
  makeTables(): void {
    if (this.hasTables) return
    applySchema(this.storage, POD_LOG_SCHEMA)
    this.hasTables = true
  }
}

function positionOf(last: Pick<NewestPack, 'lastN' | 'endByte'> | null): LinePosition {
  return last ? { n: last.lastN, endByte: last.endByte } : NO_LINE
}

/** The first `limit` items that are meant; reads no item after them. */
function take<T>(limit: number, items: Iterable<T>, isMeant: (item: T) => boolean = () => true): T[] {
  const taken: T[] = []
  if (limit <= 0) return taken
  for (const item of items) {
    if (!isMeant(item)) continue
    taken.push(item)
    if (taken.length === limit) break
  }
  return taken
}
