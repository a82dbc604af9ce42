import type { LogSourceParam } from '../../src/contract/logs/stream.ts'
import { logFrame } from '../../src/domain/text/log-stream.ts'
import { eventText, PING } from '../../src/domain/text/sse.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { Timers } from '../clock/timers.ts'
import type { LogHistory, LogPage } from './history.ts'

/** Largest number of concurrent readers of one log. */
export const MAX_FOLLOWERS = 100
/** Lines read per step of a stream; the reader's pace decides when the next step is. */
const STEP_LINES = 64

/** LOG-4: the event that announces that the server closes the stream. */
export const TIMEOUT_EVENT = eventText('{}', { event: 'timeout' })

const encoder = new TextEncoder()

/**
 * Open streams of one log. A stream holds only a cursor: it reads its next rows when the reader has room, so a slow reader costs no memory
 * and misses only lines that the tail has dropped by then.
 */
export class Followers {
  /** Silence after which a comment is sent, milliseconds (LOG-4); tests set a shorter one. */
  silenceMs = 15_000
  /** A stream ends after this time, milliseconds (LOG-12): a reader that reconnects presents its key again. */
  lifetimeMs = 3_600_000
  private readonly history: LogHistory
  private readonly timers: Pick<Timers, 'after' | 'steadyMs'>
  private readonly open = new Set<object>()
  private readonly waiting = new Set<() => void>()
  /** Incremented when the log is deleted, because the line numbers of a later log start again. */
  private generation = 0

  constructor(history: LogHistory, timers: Pick<Timers, 'after' | 'steadyMs'>) {
    this.history = history
    this.timers = timers
  }

  get count(): number {
    return this.open.size
  }

  isFull(): boolean {
    return this.open.size >= MAX_FOLLOWERS
  }

  /** Wakes streams that wait for new lines. */
  wake(): void {
    for (const wake of [...this.waiting]) wake()
  }

  /** Ends every stream when the log is deleted. */
  endAll(): void {
    this.generation += 1
    this.wake()
  }

  /** A stream of every line after `cursor`, including future ones. `signal` aborts when the reader disconnects. */
  follow(cursor: number, source: LogSourceParam | undefined, signal: AbortSignal): ReadableStream<Uint8Array> {
    const reader = {}
    this.open.add(reader)
    const close = () => void this.open.delete(reader)
    signal.addEventListener('abort', close, { once: true })
    const { generation } = this
    const endsAtMs = this.timers.steadyMs() + this.lifetimeMs
    const isOver = () => signal.aborted || generation !== this.generation || this.timers.steadyMs() >= endsAtMs
    let position = cursor
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const text = await this.nextText(position, source, isOver, signal)
        if (text === null) {
          close()
          if (!signal.aborted) controller.enqueue(encoder.encode(TIMEOUT_EVENT))
          controller.close()
          return
        }
        position = text.position
        controller.enqueue(encoder.encode(text.frames))
      },
      cancel: close,
    })
  }

  /** The next frames, or a comment after a silence; null: the stream is over. */
  private async nextText(
    position: number,
    source: LogSourceParam | undefined,
    isOver: () => boolean,
    signal: AbortSignal,
  ): Promise<{ frames: string; position: number } | null> {
    let cursor = position
    const until = this.timers.steadyMs() + this.silenceMs
    for (;;) {
      if (isOver()) return null
      // No await between reading the tail and waiting for a change: a line in between would go unnoticed.
      const tail = this.history.tailAfter(cursor, source, STEP_LINES)
      const page = tail ?? (await this.olderLines(cursor, source))
      if (page === null) return null
      if (page.lines.length > 0) return { frames: page.lines.map(logFrame).join(''), position: page.position }
      // No line of this source up to here: the next read starts after these rows.
      cursor = page.position
      const outcome =
        tail === null && this.timers.steadyMs() < until ? 'changed' : await this.nextChange(until - this.timers.steadyMs(), signal)
      if (outcome === 'silence' && !isOver()) return { frames: PING, position: cursor }
    }
  }

  // A reader whose stream ends here reconnects with its last event id.
  private async olderLines(cursor: number, source: LogSourceParam | undefined): Promise<LogPage | null> {
    try {
      return await this.history.segmentAfter(cursor, source, STEP_LINES)
    } catch (error) {
      logEvent('warn', 'a segment of a log could not be read', { error })
      return null
    }
  }

  private nextChange(waitMs: number, signal: AbortSignal): Promise<'changed' | 'silence'> {
    return new Promise((resolve) => {
      const finish = (outcome: 'changed' | 'silence') => {
        cancel()
        signal.removeEventListener('abort', wake)
        this.waiting.delete(wake)
        resolve(outcome)
      }
      const wake = () => finish('changed')
      const cancel = this.timers.after(waitMs, () => finish('silence'))
      signal.addEventListener('abort', wake)
      this.waiting.add(wake)
    })
  }
}
