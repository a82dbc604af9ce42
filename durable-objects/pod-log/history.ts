import type { LogSourceParam } from '../../src/contract/logs/stream.ts'
import { type LogStart, nextShownSecond, type StoredLine } from '../../src/domain/text/log-stream.ts'
import type { LogArchive } from './archive.ts'
import type { LogStore } from './log-store.ts'
import type { Segment } from './segment-store.ts'

/** Some lines, and the number of the last line that was scanned. */
export interface LogPage {
  lines: StoredLine[]
  position: number
}

/** A log as readers see it: its segments in the bucket, then its tail. */
export class LogHistory {
  private readonly store: LogStore
  private readonly archive: LogArchive

  constructor(store: LogStore, archive: LogArchive) {
    this.store = store
    this.archive = archive
  }

  /** The number of the line after which a reader begins. */
  async cursorOf(start: LogStart, source: LogSourceParam | undefined): Promise<number> {
    switch (start.kind) {
      case 'after-line':
        // A line number that this log has not reached comes from another log; only the time applies.
        return start.n <= this.store.newest().n ? start.n : this.cursorBefore(nextShownSecond(start.atMs))
      case 'after-time':
        return this.cursorBefore(nextShownSecond(start.atMs))
      case 'since':
        return this.cursorBefore(start.atMs)
      case 'tail':
        return this.store.cursorOfTail(start.lines, source)
    }
  }

  private async cursorBefore(atMs: number): Promise<number> {
    const segment = this.archive.segmentSince(atMs)
    if (!segment) return this.store.cursorBefore(atMs)
    const first = (await this.archive.read(segment)).find((line) => line.atMs >= atMs)
    return first ? first.n - 1 : segment.lastN
  }

  /** Up to `limit` lines of the tail after a cursor; null when a segment comes first. */
  tailAfter(cursor: number, source: LogSourceParam | undefined, limit: number): LogPage | null {
    if (this.archive.segmentAfter(cursor)) return null
    const lines = this.store.after(cursor, source, limit)
    return { lines, position: lines.at(-1)?.n ?? Math.max(cursor, this.store.newest().n) }
  }

  /** Up to `limit` lines after a cursor from the bucket. Throws when it cannot be read. */
  async segmentAfter(cursor: number, source: LogSourceParam | undefined, limit: number): Promise<LogPage> {
    const segment = this.archive.segmentAfter(cursor)
    return segment ? pageOf(segment, await this.archive.read(segment), cursor, source, limit) : { lines: [], position: cursor }
  }
}

function pageOf(segment: Segment, all: readonly StoredLine[], cursor: number, source: LogSourceParam | undefined, limit: number): LogPage {
  const left = all.filter((line) => line.n > cursor && (source === undefined || line.source === source))
  const lines = left.slice(0, limit)
  const isWhole = lines.length === left.length
  return { lines, position: isWhole ? segment.lastN : (lines.at(-1)?.n ?? segment.lastN) }
}
