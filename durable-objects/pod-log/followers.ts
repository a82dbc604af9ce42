import type { LogSourceParam } from '../../src/contract/logs.ts'
import { logFrame } from '../../src/domain/log-stream.ts'
import { eventText, PING } from '../../src/domain/sse.ts'
import type { LogStore } from './log-store.ts'

/** Readers of one log at a time. */
export const MAX_FOLLOWERS = 100
/** Lines read for one step of a stream; the reader's pace decides when the next step is. */
const STEP_LINES = 64

/** LOG-4: the server has to close. */
const TIMEOUT_EVENT = eventText('{}', { event: 'timeout' })

const encoder = new TextEncoder()

/**
 * Open streams of one log. A stream holds a cursor and nothing else: it reads its next rows when the reader has room, so a slow one costs
 * no memory and misses only what the tail has dropped by then.
 */
export class Followers {
  /** Silence after which a comment is sent, milliseconds (LOG-4); tests set their own. */
  silenceMs = 15_000
  /** A stream is ended after this (PP-62): whoever comes back shows its key again. */
  lifetimeMs = 3_600_000
  private readonly store: LogStore
  private readonly open = new Set<object>()
  private readonly waiting = new Set<() => void>()
  /** Rises when the log is deleted: the numbers of a later one begin again. */
  private generation = 0

  constructor(store: LogStore) {
    this.store = store
  }

  get count(): number {
    return this.open.size
  }

  isFull(): boolean {
    return this.open.size >= MAX_FOLLOWERS
  }

  /** New rows are there. */
  wake(): void {
    for (const wake of [...this.waiting]) wake()
  }

  /** Ends every stream: the log is deleted. */
  endAll(): void {
    this.generation += 1
    this.wake()
  }

  /** A stream of every line after `cursor`, now and in future. `signal` fires when the reader has left. */
  follow(cursor: number, source: LogSourceParam | undefined, signal: AbortSignal): ReadableStream<Uint8Array> {
    const reader = {}
    this.open.add(reader)
    const close = () => void this.open.delete(reader)
    signal.addEventListener('abort', close, { once: true })
    const { generation } = this
    const endsAtMs = Date.now() + this.lifetimeMs
    const isOver = () => signal.aborted || generation !== this.generation || Date.now() >= endsAtMs
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
    const until = Date.now() + this.silenceMs
    for (;;) {
      if (isOver()) return null
      const lines = this.store.after(cursor, source, STEP_LINES)
      const last = lines.at(-1)
      if (last) return { frames: lines.map(logFrame).join(''), position: last.n }
      // Nothing of this source up to here: the next look need not pass these rows again.
      cursor = Math.max(cursor, this.store.newest().n)
      const outcome = await this.nextChange(until - Date.now(), signal)
      if (outcome === 'silence' && !isOver()) return { frames: PING, position: cursor }
    }
  }

  private nextChange(waitMs: number, signal: AbortSignal): Promise<'changed' | 'silence'> {
    return new Promise((resolve) => {
      const finish = (outcome: 'changed' | 'silence') => {
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        this.waiting.delete(wake)
        resolve(outcome)
      }
      const wake = () => finish('changed')
      const timer = setTimeout(() => finish('silence'), Math.max(0, waitMs))
      signal.addEventListener('abort', wake)
      this.waiting.add(wake)
    })
  }
}
