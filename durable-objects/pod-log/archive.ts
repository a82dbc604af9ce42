import { BACKLOG_FACTOR, isSegmentDue, nextAfter, SEGMENT_LINES, type StoredLine, segmentEnd } from '../../src/domain/text/log-stream.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { ArchiveRoom } from './archive-room.ts'
import type { LogStore } from './log-store.ts'
import { type Segment, SegmentStore } from './segment-store.ts'

/** Segments of one log: about ten million lines. Beyond that the oldest is deleted. */
export const MAX_SEGMENTS = 10_000
/** Segments cached in memory, for readers that read one in many steps. */
const MAX_HELD = 4
/** Largest number of objects that one call to the bucket lists and deletes. */
const DELETE_STEP = 1_000
const NUMBER_DIGITS = 12
/** Attempts to free space for one segment. */
const MAX_TRIES = 8
const encoder = new TextEncoder()

/**
 * Older lines of a log in the operator's bucket, if there is one: written once, before the tail drops them. The boundaries of a segment
 * depend on its lines alone, so a repeated write stores the same object.
 */
export class LogArchive {
  /** Null: this plane has no bucket, and lines that the tail drops are lost. */
  bucket: R2Bucket | null
  private readonly storage: DurableObjectStorage
  private readonly store: LogStore
  private readonly room: ArchiveRoom
  private readonly segments: SegmentStore
  private readonly held = new Map<string, StoredLine[]>()
  private writing: Promise<void> | null = null

  constructor(storage: DurableObjectStorage, store: LogStore, room: ArchiveRoom, bucket: R2Bucket | undefined) {
    this.storage = storage
    this.store = store
    this.room = room
    this.segments = new SegmentStore(storage.sql)
    this.bucket = bucket ?? null
  }

  /** Factor by which the tail may exceed its limits. */
  get keptFactor(): number {
    return this.bucket ? BACKLOG_FACTOR : 1
  }

  /** Writes the lines that the tail should drop, and drops them. One writer at a time; a failed write is retried with the next lines. */
  async flush(): Promise<void> {
    this.writing ??= this.writeAll().finally(() => {
      this.writing = null
    })
    await this.writing
  }

  private async writeAll(): Promise<void> {
    try {
      while (await this.writeNext());
    } catch (error) {
      logEvent('warn', 'a segment of a log could not be written', { error })
    }
  }

  private async writeNext(): Promise<boolean> {
    const newest = this.store.newest()
    // A log that is far from its limits needs no read of its lines.
    if (!this.bucket || !isSegmentDue(nextAfter(this.store.dropped()), newest)) return false
    const oldest = this.store.oldest(SEGMENT_LINES)
    const [first] = oldest
    const prefix = this.store.objectPrefix()
    if (!first || prefix === null || !isSegmentDue(first, newest)) return false
    const lastN = segmentEnd(oldest) ?? first.n
    const lines = this.store.upTo(lastN)
    const body = encoder.encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const latestAtMs = Math.max(...lines.map(({ atMs }) => atMs))
    const segment = { firstN: lines[0]?.n ?? lastN, lastN, latestAtMs, bytes: body.byteLength }
    if (!(await this.makeRoom(this.bucket, prefix, segment.bytes))) return false
    await this.bucket.put(prefix + nameOf(segment), body)
    this.storage.transactionSync(() => {
      this.segments.add(segment)
      this.store.drop(lastN)
    })
    if (this.segments.count() > MAX_SEGMENTS) await this.removeOldest(this.bucket, prefix)
    return true
  }

  /** LOG-35: reserves the account's space for one more segment, deleting older lines if needed; false: there is none. */
  private async makeRoom(bucket: R2Bucket, prefix: string, bytes: number): Promise<boolean> {
    const log = this.store.name()
    for (let tries = 0; log && tries < MAX_TRIES; tries += 1) {
      if (await this.room.take(log, this.segments.bytes() + bytes)) return true
      if (!(await this.room.makeRoom(log)) && !(await this.removeOldest(bucket, prefix))) return false
    }
    return false
  }

  private async removeOldest(bucket: R2Bucket, prefix: string): Promise<boolean> {
    const oldest = this.segments.firstAfter(0)
    if (!oldest) return false
    await bucket.delete(prefix + nameOf(oldest))
    this.segments.remove(oldest)
    return true
  }

  /**
   * Releases this log's space for the account's other logs. False while this log is being written: waiting for that could be a deadlock.
   */
  async shed(): Promise<boolean> {
    if (this.writing) return false
    await this.removeAll()
    return true
  }

  /** The segment that continues after a line; null when the tail does. */
  segmentAfter(n: number): Segment | null {
    return this.bucket && this.store.exists() ? this.segments.firstAfter(n) : null
  }

  /** The newest segment with lines before a line; null when there is none. */
  segmentBefore(n: number): Segment | null {
    return this.bucket && this.store.exists() ? this.segments.lastBefore(n) : null
  }

  /** The first segment with a line of this time or later; null when there is none before the tail. */
  segmentSince(atMs: number): Segment | null {
    return this.bucket && this.store.exists() ? this.segments.firstSince(atMs) : null
  }

  /** Lines of a segment; none when the bucket does not have it any more. Throws when the bucket cannot be read. */
  async read(segment: Segment): Promise<StoredLine[]> {
    const key = `${this.store.objectPrefix() ?? ''}${nameOf(segment)}`
    const held = this.held.get(key)
    if (held) return held
    const text = (await (await this.bucket?.get(key))?.text()) ?? ''
    const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as StoredLine]))
    this.held.set(key, lines)
    for (const oldest of this.held.keys()) if (this.held.size > MAX_HELD) this.held.delete(oldest)
    return lines
  }

  /** Deletes every segment, including those without a row. Throws when the bucket cannot be reached. */
  async removeAll(): Promise<void> {
    await this.writing
    // Takes the writer's turn, so that no write runs in between.
    this.writing = this.deleteObjects().finally(() => {
      this.writing = null
    })
    await this.writing
  }

  private async deleteObjects(): Promise<void> {
    const prefix = this.store.objectPrefix()
    if (!this.bucket || prefix === null) return
    for (;;) {
      const { objects } = await this.bucket.list({ prefix, limit: DELETE_STEP })
      if (objects.length === 0) break
      await this.bucket.delete(objects.map(({ key }) => key))
    }
    this.segments.removeAll()
    this.held.clear()
    const log = this.store.name()
    if (log) await this.room.giveBack(log)
  }
}

function nameOf({ firstN, lastN }: Segment): string {
  return `${String(firstN).padStart(NUMBER_DIGITS, '0')}-${String(lastN).padStart(NUMBER_DIGITS, '0')}.ndjson`
}
