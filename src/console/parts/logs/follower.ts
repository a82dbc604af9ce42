import type { ServerEvent } from '../../../client/events.ts'
import { claimStream } from '../../app/one-stream.ts'
import { LineBuffer, readLine, type ShownLine } from './buffer.ts'

/** Lines that come close together are shown together. */
const SHOWN_EVERY_MS = 100
/** Before a stream that the plane has ended is opened again. */
const AGAIN_MS = 1_000

export interface LogState {
  lines: readonly ShownLine[]
  dropped: number
  /** Written quicker than they could be followed; with a source chosen, also those of the other. */
  missed: number
  /** `other`: another view of this tab follows now. */
  status: 'connecting' | 'following' | 'paused' | 'other' | 'failed'
  error: Error | null
}

/** Opens the log; behind an event when one is named. */
export type OpenLog = (options: { signal: AbortSignal; lastEventId?: string }) => AsyncGenerator<ServerEvent>

/** Follows one log into a bounded buffer. It goes on behind the last line it has whenever it is started again. */
export class LogFollower {
  private readonly open: OpenLog
  private readonly buffer: LineBuffer
  private readonly listeners = new Set<() => void>()
  private coming: ShownLine[] = []
  private timer: ReturnType<typeof setTimeout> | undefined
  private running: AbortController | undefined
  private state: LogState = { lines: [], dropped: 0, missed: 0, status: 'connecting', error: null }

  constructor(open: OpenLog, buffer = new LineBuffer()) {
    this.open = open
    this.buffer = buffer
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  readonly snapshot = (): LogState => this.state

  start(): void {
    if (this.running !== undefined) return
    const running = new AbortController()
    this.running = running
    const release = claimStream(() => this.stop('other'))
    running.signal.addEventListener('abort', release, { once: true })
    this.change({ status: 'connecting', error: null })
    void this.follow(running.signal).catch((error: unknown) => {
      if (running.signal.aborted) return
      this.stop('failed', error instanceof Error ? error : new Error(String(error)))
    })
  }

  stop(status: 'paused' | 'other' | 'failed' = 'paused', error: Error | null = null): void {
    if (this.running === undefined) return
    this.running.abort()
    this.running = undefined
    this.show()
    this.change({ status, error })
  }

  private async follow(signal: AbortSignal): Promise<void> {
    // A log that is silent has been reached all the same.
    const reached = setTimeout(() => signal.aborted || this.change({ status: 'following' }), AGAIN_MS)
    try {
      for (;;) {
        const last = this.coming.at(-1) ?? this.buffer.lines.at(-1)
        for await (const event of this.open({ signal, ...(last && { lastEventId: last.id }) })) this.take(readLine(event))
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
        signal.throwIfAborted()
      }
    } finally {
      clearTimeout(reached)
    }
  }

  private take(line: ShownLine | null): void {
    if (line === null) return
    this.coming.push(line)
    this.timer ??= setTimeout(() => this.show(), SHOWN_EVERY_MS)
  }

  private show(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.coming.length === 0) return
    this.buffer.append(this.coming)
    this.coming = []
    this.change({ status: 'following' })
  }

  private change(changes: Partial<LogState>): void {
    // A new list each time: who looks compares by identity.
    this.state = { ...this.state, ...changes, lines: this.buffer.lines.slice(), dropped: this.buffer.dropped, missed: this.buffer.missed }
    for (const listener of this.listeners) listener()
  }
}
