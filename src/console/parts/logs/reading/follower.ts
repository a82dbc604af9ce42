import { isPassing } from '../../../../client/errors.ts'
import { claimStream } from '../../../app/one-stream.ts'
import { LineBuffer } from './buffer.ts'
import { Gaps } from './gaps.ts'
import { numberOf, runsOf, type ShownLine } from './lines.ts'
import { type FollowFrom, type LogPage, PAGE_LINES, type PageQuery } from './origins.ts'

/** Lines that come close together are shown together. */
const SHOWN_EVERY_MS = 100
/** Before a stream that the plane has ended is opened again. */
const AGAIN_MS = 1_000
/** A search looks at 10,000 lines a page (JL-12); so many pages are looked at in one go. */
const PAGES_AT_ONCE = 20
/** Hits with which a view of hits alone begins, if there are so many. */
const ENOUGH = 100

export interface LogState {
  lines: readonly ShownLine[]
  dropped: number
  /** Came too quickly to be followed, and is being read again. */
  reading: number
  /** The plane does not keep it any more. */
  missed: number
  /** Lines that have come since the view was opened. */
  came: number
  /** `following`: its stream is open. `broken`: it is not, and is opened again. `ended`: all is shown. `other`: another view of the tab follows. */
  status: 'connecting' | 'following' | 'broken' | 'paused' | 'ended' | 'other' | 'failed'
  error: Error | null
  /** The cursors of what is before and behind what is shown; null: nothing, or what is followed. */
  older: string | null
  newer: string | null
  isFull: boolean
}

/** One log, of which some lines are meant. */
export interface LogSource {
  first: (signal: AbortSignal) => Promise<LogPage>
  /** Lines that are meant. */
  page: (query: Pick<PageQuery, 'cursor' | 'limit'> & { q?: string }, signal: AbortSignal) => Promise<LogPage>
  /** All lines behind some, and of a log that is numbered, all of a gap. */
  follow: (from: FollowFrom, signal: AbortSignal, onLink: (isOpen: boolean) => void) => AsyncGenerator<readonly ShownLine[]>
  all: (cursor: string, signal: AbortSignal) => Promise<LogPage>
  isMeant: (line: ShownLine) => boolean
  isNumbered: boolean
  /** Nothing comes any more that is meant. */
  isOver: boolean
  /** It begins about one line; what is behind is read when somebody asks for it. */
  isMiddle: boolean
}

/**
 * Shows one log: a page of it, what is older when it is asked for, and what comes. It goes on behind the last line that it has whenever it is
 * started again, and reads again what came too quickly, so that no line is missing that the plane still has.
 */
export class LogFollower {
  private readonly source: LogSource
  private readonly buffer: LineBuffer
  private readonly gaps: Gaps
  private readonly listeners = new Set<() => void>()
  /** Behind what has been read. */
  private position: FollowFrom | null = null
  private coming: ShownLine[] = []
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

  /** Follows it. `isAsked`: also when a view that was opened in its middle has not come to its end. */
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

  /** Reads a page of what is before; a search goes on until it has found something. */
  async readOlder(signal: AbortSignal, most = PAGES_AT_ONCE): Promise<void> {
    for (let pages = 0; pages < most && this.state.older !== null && !this.buffer.isFull; pages += 1) {
      const page = await this.source.page({ cursor: this.state.older, limit: PAGE_LINES }, signal)
      this.buffer.prepend(page.lines)
      this.change({ older: page.older })
      if (page.lines.length > 0) return
    }
  }

  /** Reads a page of what is behind, while it is not followed. */
  async readNewer(signal: AbortSignal): Promise<void> {
    for (let pages = 0; pages < PAGES_AT_ONCE && this.state.newer !== null; pages += 1) {
      const page = await this.source.page({ cursor: this.state.newer, limit: PAGE_LINES }, signal)
      this.keep(page)
      if (page.lines.length > 0) return
    }
  }

  /** The nearest line with a text outside of what is shown; null: there is none that way. */
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
      // A search that was cut short goes on until there is something to look at.
      for (let pages = 0; page.truncatedAt !== null && this.buffer.lines.length < ENOUGH && pages < PAGES_AT_ONCE; pages += 1) {
        await this.readOlder(signal, 1)
        signal.throwIfAborted()
      }
    }
    // In the middle of a log: what follows is read when it is wanted.
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
      this.gaps.look(lines, signal)
      this.take(lines)
    }
  }

  private take(lines: readonly ShownLine[]): void {
    for (const line of lines) if (this.source.isMeant(line)) this.coming.push(line)
    this.timer ??= setTimeout(() => this.show(), SHOWN_EVERY_MS)
  }

  private show(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const before = this.buffer.lines.length + this.buffer.dropped
    for (const run of runsOf(this.coming)) this.buffer.add(run)
    this.coming = []
    const came = this.state.came + this.buffer.lines.length + this.buffer.dropped - before
    this.change({ came })
  }

  private change(changes: Partial<LogState>): void {
    const { lines, dropped, isFull } = this.buffer
    // A new list each time: who looks compares by identity.
    this.state = { ...this.state, ...changes, lines: lines.slice(), dropped, isFull, reading: this.gaps.open, missed: this.gaps.lost }
    for (const listener of this.listeners) listener()
  }
}
