import { decodeFrame, encodeFrame, type Frame, type OpenTarget, type ResetReason, TunnelViolation, type WantedTarget } from './frames.ts'
import { TunnelStream } from './stream.ts'
import { Windows } from './windows.ts'

export interface TunnelEndOptions {
  send(message: Uint8Array<ArrayBuffer>): void
  /** See `StreamWires`; absent: no waiting. */
  turn?: () => Promise<void>
  /** Agent: the plane opens a stream. Absent at the plane, which is opened none. */
  onOpen?: (stream: TunnelStream, target: OpenTarget) => void
  /** The number of the first stream that this end opens: one that no earlier end of this connection has used. */
  firstStream?: number
}

const TOO_MANY: ResetReason = { code: 'refused', detail: 'too many streams to this workload or this host are open' }

/** One end of a tunnel: its streams by their numbers. Pure but for promises; `receive` throws `TunnelViolation`, upon which its owner closes it. */
export class TunnelEnd {
  private readonly options: TunnelEndOptions
  private readonly streams = new Map<number, TunnelStream>()
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

  /** The number that the next stream gets. */
  get nextStream(): number {
    return this.next
  }

  /** Opens a stream; null when there are too many. */
  open(target: WantedTarget): TunnelStream | null {
    const window = this.windows.take(target.workloadId)
    if (window === null) return null
    const stream = this.make(this.next, window, null, target.workloadId)
    this.next += 1
    this.send({ type: 'open', stream: stream.id, target: { ...target, window } })
    return stream
  }

  receive(message: Uint8Array): void {
    const frame = decodeFrame(message)
    if (frame.type === 'open') this.opened(frame.stream, frame.target)
    // What was under way when a stream was broken off comes late, and is nobody's.
    else this.streams.get(frame.stream)?.receive(frame)
  }

  /** The connection is gone. */
  fail(detail: string): void {
    for (const stream of [...this.streams.values()]) stream.fail({ code: 'broken', detail })
  }

  private opened(id: number, target: OpenTarget): void {
    const { onOpen } = this.options
    // Rising, so that none is ever taken for a former one.
    if (onOpen === undefined || id <= this.lastOpened) throw new TunnelViolation('a stream that may not be opened')
    this.lastOpened = id
    const window = this.windows.take(target.workloadId)
    if (window === null) this.send({ type: 'reset', stream: id, reason: TOO_MANY })
    else onOpen(this.make(id, window, target.window, target.workloadId), target)
  }

  private make(id: number, window: number, granted: number | null, workloadId: string): TunnelStream {
    const stream = new TunnelStream(id, window, granted, {
      send: (frame) => this.send(frame),
      turn: this.options.turn ?? (() => Promise.resolve()),
      onClosed: () => {
        this.streams.delete(id)
        this.windows.giveBack(workloadId, window)
      },
    })
    this.streams.set(id, stream)
    return stream
  }

  private send(frame: Frame): void {
    this.options.send(encodeFrame(frame))
  }
}
