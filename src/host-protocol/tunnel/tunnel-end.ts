import {
  decodeFrame,
  encodeFrame,
  type Frame,
  isUnderstood,
  type OpenTarget,
  type ResetReason,
  TunnelViolation,
  type WantedTarget,
} from './frames.ts'
import { TunnelStream } from './stream.ts'
import { type Opener, Windows } from './windows.ts'

export interface TunnelEndOptions {
  send(message: Uint8Array<ArrayBuffer>): void
  /** See `StreamWires`; absent: no waiting. */
  turn?: () => Promise<void>
  /** Agent: the plane opens a stream. Absent at the plane, for which no streams are opened. */
  onOpen?: (stream: TunnelStream, target: OpenTarget) => void
  /** Agent: returns the account of a workload, by which large windows are shared; undefined: it counts as an account of its own. */
  accountOf?: (workloadId: string) => string | undefined
  /** Any clock in milliseconds; it determines which streams are silent. */
  now?: () => number
  /** The number of the first stream that this end opens; no earlier end of this connection may have used it. */
  firstStream?: number
}

const TOO_MANY: ResetReason = { code: 'refused', detail: 'too many streams to this workload or this host are open' }

const NOT_SENT: ResetReason = {
  code: 'refused',
  detail: 'the request is too large, or in a form that the host of the workload does not take',
}

const SILENT: ResetReason = {
  code: 'cancelled',
  detail: 'it was silent for a minute, and a newer request of the same account had no other place on this host',
}

interface Open {
  stream: TunnelStream
  opener: Opener
  kind: OpenTarget['kind']
  /** Time in ms of the last frame in either direction, or of the opening. */
  movedAtMs: number
}

interface Making extends Pick<Open, 'opener' | 'kind'> {
  /** Window in bytes. */
  window: number
  granted: number | null
}

/**
 * One end of a tunnel: its streams by their numbers. Pure except for promises. `receive` throws `TunnelViolation`; the owner then closes
 * the tunnel.
 */
export class TunnelEnd {
  private readonly options: TunnelEndOptions
  private readonly streams = new Map<number, Open>()
  private readonly windows = new Windows()
  private next: number
  private lastOpened = -1

  constructor(options: TunnelEndOptions) {
    this.options = options
    this.next = options.firstStream ?? 0
  }

  get size(): number {
    return this.streams.size
  }

  /** Returns the number of streams to this workload. */
  streamsOf(workloadId: string): number {
    return this.windows.streamsOf(workloadId)
  }

  /** Returns the number of streams of this account. */
  streamsOfAccount(account: string): number {
    return this.windows.streamsOfAccount(account)
  }

  /** The number of the next stream. */
  get nextStream(): number {
    return this.next
  }

  /**
   * Opens a stream that counts for an account; null when there are too many (SHR-30). A stream whose target the agent would not accept has
   * already failed.
   */
  open(target: WantedTarget, account: string): TunnelStream | null {
    const opener = { workloadId: target.workloadId, account, isTerminal: target.kind === 'exec' }
    const window = this.windows.open(opener)
    if (window === null) return null
    const stream = this.make(this.next, { window, granted: null, opener, kind: target.kind })
    this.next += 1
    const frame = { type: 'open', stream: stream.id, target: { ...target, window } } as const
    if (isUnderstood(frame)) this.send(frame)
    else stream.fail(NOT_SENT)
    return stream
  }

  /**
   * Cancels the HTTP request with the longest silence among those of an account or a workload, if that is `silentMs` or more: a request
   * whose client has closed its connection cannot be distinguished from one that waits (SHR-33). Returns whether one was cancelled.
   */
  preempt(whose: Partial<Pick<Opener, 'workloadId' | 'account'>>, silentMs: number): boolean {
    const isTheirs = ({ opener }: Open) =>
      (whose.workloadId ?? opener.workloadId) === opener.workloadId && (whose.account ?? opener.account) === opener.account
    const requests = [...this.streams.values()].filter((open) => open.kind === 'http' && isTheirs(open))
    const [oldest] = requests.toSorted((a, b) => a.movedAtMs - b.movedAtMs)
    if (oldest === undefined || this.now() - oldest.movedAtMs < silentMs) return false
    oldest.stream.reset(SILENT)
    return true
  }

  receive(message: Uint8Array): void {
    const frame = decodeFrame(message)
    if (frame.type === 'open') this.opened(frame.stream, frame.target)
    // Frames sent before a reset may arrive after it, and are ignored.
    else this.moved(frame.stream)?.receive(frame)
  }

  /** Fails all streams, because the connection has ended. */
  fail(detail: string): void {
    for (const { stream } of [...this.streams.values()]) stream.fail({ code: 'broken', detail })
  }

  private moved(id: number): TunnelStream | undefined {
    const open = this.streams.get(id)
    if (open !== undefined) open.movedAtMs = this.now()
    return open?.stream
  }

  private opened(id: number, target: OpenTarget): void {
    const { onOpen } = this.options
    // Numbers must increase, so that a stream is never confused with an earlier one.
    if (onOpen === undefined || id <= this.lastOpened) throw new TunnelViolation('a stream that may not be opened')
    this.lastOpened = id
    const { workloadId, kind } = target
    const opener = { workloadId, account: this.options.accountOf?.(workloadId) ?? workloadId, isTerminal: kind === 'exec' }
    const window = this.windows.answer(opener)
    if (window === null) this.send({ type: 'reset', stream: id, reason: TOO_MANY })
    else onOpen(this.make(id, { window, granted: target.window, opener, kind }), target)
  }

  private make(id: number, { window, granted, opener, kind }: Making): TunnelStream {
    const stream = new TunnelStream(id, window, granted, {
      send: (frame) => this.send(frame),
      turn: this.options.turn ?? (() => Promise.resolve()),
      onClosed: () => {
        this.streams.delete(id)
        this.windows.giveBack(opener, window)
      },
    })
    this.streams.set(id, { stream, opener, kind, movedAtMs: this.now() })
    return stream
  }

  private send(frame: Frame): void {
    if (frame.type === 'data') this.moved(frame.stream)
    this.options.send(encodeFrame(frame))
  }

  private now(): number {
    return this.options.now?.() ?? 0
  }
}
