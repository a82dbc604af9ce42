import { type FoundLines, isMeantLine, type LineFilter, type LineQuery } from '../../src/domain/logs/line-page.ts'
import type { StoredLine } from '../../src/domain/text/log-stream.ts'
import { Turns } from '../clock/turns.ts'
import type { LogArchive } from './archive.ts'
import type { LogHistory } from './history.ts'
import type { LogStore } from './log-store.ts'

/** Limits of one page (LOG-32): lines and characters scanned, and characters returned. */
export const MAX_SCANNED_LINES = 10_000
const MAX_SCANNED_CHARS = 4 * 2 ** 20
const MAX_ANSWERED_CHARS = 2 ** 20
/** Lines per step; between steps other calls run, such as appends to this log. */
const STEP_LINES = 500
/** Later than any line: the last instant that RFC 3339 can express. */
const LAST_INSTANT_MS = 253_402_300_799_999
/** Pages of one log that are read at a time. */
export const MAX_READS = 4

/** Reads pages of a log, in both directions, from its bucket and its tail. */
export class LineReader {
  private readonly store: LogStore
  private readonly archive: LogArchive
  private readonly history: LogHistory
  private readonly turns = new Turns()
  private reads = 0

  constructor(store: LogStore, archive: LogArchive, history: LogHistory) {
    this.store = store
    this.archive = archive
    this.history = history
  }

  isBusy(): boolean {
    return this.reads >= MAX_READS
  }

  /** Reads one page. Throws when the bucket cannot be read. */
  async read(query: LineQuery): Promise<FoundLines> {
    this.reads += 1
    try {
      return await this.walk(query)
    } finally {
      this.reads -= 1
    }
  }

  private async walk({ filter, direction, fromN, limit }: LineQuery): Promise<FoundLines> {
    const isOlder = direction === 'older'
    const newestN = this.store.newest().n
    const oldestN = this.oldestN()
    const first = Math.max(oldestN, (await this.floorOf(filter)) + 1)
    const last = filter.untilMs === null ? newestN : this.lastBefore(filter.untilMs)
    let reachedN = isOlder ? Math.min(fromN ?? last + 1, last + 1) : Math.max(fromN ?? 0, first - 1)
    let reachedAtMs = isOlder ? (filter.untilMs ?? LAST_INSTANT_MS) : (filter.sinceMs ?? 0)
    const lines: StoredLine[] = []
    const left = { lines: MAX_SCANNED_LINES, chars: MAX_SCANNED_CHARS, answer: MAX_ANSWERED_CHARS }
    const isDone = () => (isOlder ? reachedN <= first : reachedN >= last)
    while (!isDone() && lines.length < limit && left.lines > 0 && left.chars > 0 && left.answer > 0) {
      const step = isOlder ? await this.before(reachedN) : await this.after(reachedN)
      if (step.lines.length === 0) reachedN = step.reachedN
      for (const line of step.lines) {
        if (lines.length === limit || left.answer <= 0 || isDone()) break
        reachedN = line.n
        reachedAtMs = line.atMs
        left.lines -= 1
        left.chars -= line.line.length
        if (!isMeantLine(line, filter)) continue
        lines.push(line)
        left.answer -= line.line.length
      }
      // Lets other calls run.
      await new Promise<void>((resolve) => this.turns.next(resolve))
    }
    const isTruncated = !isDone() && lines.length < limit && left.answer > 0
    return { lines: isOlder ? lines.reverse() : lines, reachedN, reachedAtMs, isEnd: isDone(), isTruncated, oldestN, newestN }
  }

  private oldestN(): number {
    return this.archive.segmentAfter(0)?.firstN ?? this.store.dropped().n + 1
  }

  /** The number of the line before the first one of the filter's period. */
  private async floorOf({ sinceMs }: LineFilter): Promise<number> {
    return sinceMs === null ? 0 : this.history.cursorOf({ kind: 'since', atMs: sinceMs }, undefined)
  }

  /** The number of the last line that may be older than a time. */
  private lastBefore(untilMs: number): number {
    const inTail = this.store.lastBefore(untilMs)
    if (inTail !== null) return inTail
    return this.archive.segmentSince(untilMs)?.lastN ?? this.store.dropped().n
  }

  /** Lines before line `n`, newest first. `reachedN`: the number down to which there are none, if `lines` is empty. */
  private async before(n: number): Promise<{ lines: StoredLine[]; reachedN: number }> {
    const lines = this.store.before(n, STEP_LINES)
    if (lines.length > 0) return { lines, reachedN: n }
    const segment = this.archive.segmentBefore(n)
    if (!segment) return { lines, reachedN: 0 }
    const kept = (await this.archive.read(segment)).filter((line) => line.n < n)
    return { lines: kept.reverse(), reachedN: segment.firstN }
  }

  private async after(n: number): Promise<{ lines: StoredLine[]; reachedN: number }> {
    const segment = this.archive.segmentAfter(n)
    if (!segment) {
      const lines = this.store.after(n, undefined, STEP_LINES)
      return { lines, reachedN: this.store.newest().n }
    }
    return { lines: (await this.archive.read(segment)).filter((line) => line.n > n), reachedN: segment.lastN }
  }
}
