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
  /** Agent: the plane opens a stream. Absent at the plane, which is opened none. */
  onOpen?: (stream: TunnelStream, target: OpenTarget) => void
  /** Agent: whose a workload is, so that large windows are shared by account; undefined: it counts as an account of its own. */
  accountOf?: (workloadId: string) => string | undefined
  /** Any clock in milliseconds, to know which streams are silent. */
  now?: () => number
  /** The number of the first stream that this end opens: one that no earlier end of this connection has used. */
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
  /** When data went either way, or it was opened. */
  movedAtMs: number
}

interface Making extends Pick<Open, 'opener' | 'kind'> {
  window: number
  granted: number | null
}

/** One end of a tunnel: its streams by their numbers. Pure but for promises; `receive` throws `TunnelViolation`, upon which its owner closes it. */
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

  /** Streams that lead to this workload. */
  streamsOf(workloadId: string): number {
    return this.windows.streamsOf(workloadId)
  }

  /** Streams that are counted for this account. */
  streamsOfAccount(account: string): number {
    return this.windows.streamsOfAccount(account)
  }

  /** The number that the next stream gets. */
  get nextStream(): number {
    return this.next
  }

  /** Opens a stream, which is counted for an account; null when there are too many (SHR-30). One that the agent would not understand is over. */
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
   * Ends the request that has been silent for longest among those of an account, or of one workload, if that is `silentMs` or more: nothing tells
   * one whose client has closed its connection from one that waits (SHR-33). Whether one was ended.
   */
  giveWay(whose: Partial<Pick<Opener, 'workloadId' | 'account'>>, silentMs: number): boolean {
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
    // What was under way when a stream was broken off comes late, and is nobody's.
    else this.moved(frame.stream)?.receive(frame)
  }

  /** The connection is gone. */
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
    // Rising, so that none is ever taken for a former one.
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
