import { ApiError } from '../../../../client/client.ts'
import type { ShownLine } from './lines.ts'
import type { LogPage } from './origins.ts'

const AGAIN_MS = 1_000

interface GapSource {
  /** All lines after a cursor. */
  all: (cursor: string, signal: AbortSignal) => Promise<LogPage>
  isNumbered: boolean
}

interface Gap {
  after: number
  before: number
}

/** Fills the gaps that a stream has left, one after another. */
export class Gaps {
  /** Number of lines still to be read. */
  open = 0
  /** Number of lines that the plane does not have. */
  lost = 0
  private readonly source: GapSource
  private readonly give: (lines: readonly ShownLine[]) => void
  private readonly waiting: Gap[] = []
  private last = 0
  private filling: AbortSignal | null = null

  constructor(source: GapSource, give: (lines: readonly ShownLine[]) => void) {
    this.source = source
    this.give = give
  }

  /** Marks all lines up to this cursor as read. */
  reached(cursor: string): void {
    if (this.source.isNumbered) this.last = Math.max(this.last, Number(cursor.slice(1)))
  }

  /** Registers lines of the stream and the gaps before them. */
  scan(lines: readonly ShownLine[], signal: AbortSignal): void {
    if (!this.source.isNumbered) return
    for (const { place } of lines) {
      // Before the first line of a log nothing has been read, so its numbers before that line are a gap as well.
      if (place.n > this.last + 1) {
        this.waiting.push({ after: this.last, before: place.n })
        this.open += place.n - this.last - 1
      }
      this.last = Math.max(this.last, place.n)
    }
    void this.fill(signal)
  }

  /** Reads missing lines, one page at a time. */
  async fill(signal: AbortSignal): Promise<void> {
    if (this.filling !== null && !this.filling.aborted) return
    this.filling = signal
    const isOver = () => signal.aborted
    for (let gap = this.waiting[0]; gap && !isOver(); gap = this.waiting[0]) {
      try {
        const page = await this.source.all(`>${gap.after}`, signal)
        signal.throwIfAborted()
        this.close(gap, page)
      } catch (error) {
        if (isOver()) break
        if (error instanceof ApiError && !error.retryable) this.giveUp(gap)
        else await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
    if (this.filling === signal) this.filling = null
  }

  private close(gap: Gap, { lines, newer, atEnd }: LogPage): void {
    const found = lines.filter(({ place }) => place.n < gap.before)
    const reached = Math.min(Number(newer.slice(1)), gap.before - 1)
    this.open -= reached - gap.after
    this.lost += reached - gap.after - found.length
    gap.after = reached
    if (reached === gap.before - 1) this.waiting.shift()
    else if (atEnd) this.giveUp(gap)
    this.give(found)
  }

  private giveUp({ after, before }: Gap): void {
    this.open -= before - after - 1
    this.lost += before - after - 1
    this.waiting.shift()
    this.give([])
  }
}
