import { isPassing } from '../../../../client/errors.ts'
import { claimStream } from '../../../hooks/one-stream.ts'
import { LineBuffer } from './buffer.ts'
import { Gaps } from './gaps.ts'
import { numberOf, runsOf, type ShownLine } from './lines.ts'
import { type FollowFrom, type LogPage, PAGE_LINES, type PageQuery } from './origins.ts'

/** Lines that arrive within this time are rendered together, milliseconds. */
const SHOWN_EVERY_MS = 100
/** Pause before a stream that the plane has closed is reopened, milliseconds. */
const AGAIN_MS = 1_000
/** Maximum pages of one read; a search scans 10,000 lines per page (LOG-32). */
const PAGES_AT_ONCE = 20
/** Number of hits that the hits-only view loads first, if there are as many. */
const ENOUGH = 100

/** State of a followed log as a view shows it; `dropped` is the number of lines removed to bound memory. */
export interface LogState {
  lines: readonly ShownLine[]
  dropped: number
  /** Number of lines that the stream left out because they came too fast, still to be read. */
  reading: number
  /** Number of missing lines that the plane has deleted. */
  missed: number
  /** Lines received since the view was opened. */
  came: number
  /**
   * `following`: the stream is open. `broken`: it is being reopened. `ended`: all lines are shown. `other`: another view of the tab follows
   * its log.
   */
  status: 'connecting' | 'following' | 'broken' | 'paused' | 'ended' | 'other' | 'failed'
  error: Error | null
  /** Cursors of the pages before and after the shown lines; null: there are none, or they come from the stream. */
  older: string | null
  newer: string | null
  isFull: boolean
}

/** A log with a filter. */
export interface LogSource {
  first: (signal: AbortSignal) => Promise<LogPage>
  /** Lines that match the filter. */
  page: (query: Pick<PageQuery, 'cursor' | 'limit'> & { q?: string }, signal: AbortSignal) => Promise<LogPage>
  /** Follows all lines after a position, without the filter. `all` reads a page without the filter, to fill a gap of a numbered log. */
  follow: (from: FollowFrom, signal: AbortSignal, onLink: (isOpen: boolean) => void) => AsyncGenerator<readonly ShownLine[]>
  all: (cursor: string, signal: AbortSignal) => Promise<LogPage>
  isMeant: (line: ShownLine) => boolean
  isNumbered: boolean
  /** Whether no further line can match. */
  isOver: boolean
  /** Whether the view opened around one line; later lines are then read on request. */
  isMiddle: boolean
}

/**
 * Loads and follows one log: a first page, older lines on request, and new lines. Each start resumes after the last line, and gaps of a
 * fast stream are read again, so that no line is missing that the plane still has.
 */
export class LogFollower {
  private readonly source: LogSource
  private readonly buffer: LineBuffer
  private readonly gaps: Gaps
  private readonly listeners = new Set<() => void>()
  /** Position after the last line that was read. */
  private position: FollowFrom | null = null
  private pending: ShownLine[] = []
  private timer: ReturnType<typeof setTimeout> | undefined
  private running: AbortController | undefined
  private state: LogState

  constructor(source: LogSource, buffer = new LineBuffer()) {
    this.source = source
    this.buffer = buffer
    this.gaps = new Gaps(source, (lines) => this.take(lines))
    const counts = { dropped: 0, reading: 0, missed: 0, came: 0, isFull: false }
    this.state = { lines: [], ...counts, status: 'connecting', error: null, older: null, newer: null }
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  readonly snapshot = (): LogState => this.state

  /** Follows the log. `isAsked`: also if the view was opened in the middle and has not reached the end. */
  start(isAsked = false): void {
    if (this.running !== undefined || this.state.status === 'ended') return
    const running = new AbortController()
    this.running = running
    const release = claimStream(() => this.stop('other'))
    running.signal.addEventListener('abort', release, { once: true })
    this.change({ status: 'connecting', error: null })
    void this.run(isAsked, running.signal).catch((error: unknown) => {
      if (running.signal.aborted) return
      this.stop('failed', error instanceof Error ? error : new Error(String(error)))
    })
  }

  stop(status: 'paused' | 'ended' | 'other' | 'failed' = 'paused', error: Error | null = null): void {
    if (this.running === undefined) return
    this.running.abort()
    this.running = undefined
    this.show()
    this.change({ status, error })
  }

  /** Reads a page of older lines; a search continues until it finds a line. */
  async readOlder(signal: AbortSignal, most = PAGES_AT_ONCE): Promise<void> {
    for (let pages = 0; pages < most && this.state.older !== null && !this.buffer.isFull; pages += 1) {
      const page = await this.source.page({ cursor: this.state.older, limit: PAGE_LINES }, signal)
      this.buffer.prepend(page.lines)
      this.change({ older: page.older })
      if (page.lines.length > 0) return
    }
  }

  /** Reads a page of newer lines while the log is not followed. */
  async readNewer(signal: AbortSignal): Promise<void> {
    for (let pages = 0; pages < PAGES_AT_ONCE && this.state.newer !== null; pages += 1) {
      const page = await this.source.page({ cursor: this.state.newer, limit: PAGE_LINES }, signal)
      this.keep(page)
      if (page.lines.length > 0) return
    }
  }

  /** Nearest line that contains a text outside the loaded lines; null if there is none in that direction. */
  async seek(q: string, isBackwards: boolean, signal: AbortSignal): Promise<ShownLine | null> {
    let cursor = isBackwards ? this.state.older : this.state.newer
    while (cursor !== null) {
      const page = await this.source.page({ cursor, limit: 1, q }, signal)
      if (page.lines[0] !== undefined) return page.lines[0]
      cursor = page.truncatedAt
    }
    return null
  }

  private async run(isAsked: boolean, signal: AbortSignal): Promise<void> {
    if (this.position === null) {
      const page = await this.source.first(signal)
      signal.throwIfAborted()
      this.keep(page)
      this.change({ older: page.older })
      // A search that the plane has cut short continues until there are enough hits.
      for (let pages = 0; page.truncatedAt !== null && this.buffer.lines.length < ENOUGH && pages < PAGES_AT_ONCE; pages += 1) {
        await this.readOlder(signal, 1)
        signal.throwIfAborted()
      }
    }
    // In the middle of a log, later lines are read on request.
    if (this.state.newer !== null && this.source.isMiddle && !isAsked) return this.stop('paused')
    while (this.state.newer !== null) {
      await this.readNewer(signal)
      signal.throwIfAborted()
    }
    if (this.source.isOver) return this.stop('ended')
    await this.follow(signal)
  }

  private keep({ lines, newer, atEnd }: LogPage): void {
    const last = lines.at(-1)
    const isLast = last !== undefined && this.source.isNumbered && numberOf(last.id) === Number(newer.slice(1))
    this.position = { lastId: isLast ? last.id : null, newer }
    this.buffer.add(lines)
    this.gaps.reached(newer)
    this.change({ newer: atEnd ? null : newer })
  }

  private async follow(signal: AbortSignal): Promise<void> {
    void this.gaps.fill(signal)
    const onLink = (isOpen: boolean) => {
      const status = isOpen ? 'following' : 'broken'
      if (!signal.aborted && this.state.status !== status) this.change({ status })
    }
    for (;;) {
      try {
        await this.readStream(signal, onLink)
      } catch (error) {
        signal.throwIfAborted()
        if (!isPassing(error)) throw error
      }
      onLink(false)
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      signal.throwIfAborted()
    }
  }

  private async readStream(signal: AbortSignal, onLink: (isOpen: boolean) => void): Promise<void> {
    const from = this.position ?? { lastId: null, newer: '>0' }
    for await (const lines of this.source.follow(from, signal, onLink)) {
      const last = lines.at(-1)
      if (last) this.position = { lastId: last.id, newer: this.source.isNumbered ? `>${last.place.n}` : `>${last.id}` }
      this.gaps.scan(lines, signal)
      this.take(lines)
    }
  }

  private take(lines: readonly ShownLine[]): void {
    for (const line of lines) if (this.source.isMeant(line)) this.pending.push(line)
    this.timer ??= setTimeout(() => this.show(), SHOWN_EVERY_MS)
  }

  private show(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const before = this.buffer.lines.length + this.buffer.dropped
    for (const run of runsOf(this.pending)) this.buffer.add(run)
    this.pending = []
    const came = this.state.came + this.buffer.lines.length + this.buffer.dropped - before
    this.change({ came })
  }

  private change(changes: Partial<LogState>): void {
    const { lines, dropped, isFull } = this.buffer
    // A new array each time, since subscribers compare by identity.
    this.state = { ...this.state, ...changes, lines: lines.slice(), dropped, isFull, reading: this.gaps.open, missed: this.gaps.lost }
    for (const listener of this.listeners) listener()
  }
}
