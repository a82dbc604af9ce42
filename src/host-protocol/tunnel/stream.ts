import { type Frame, isUnderstood, MAX_DATA_BYTES, MAX_HEADERS, type ResetReason, type StreamHead, TunnelViolation } from './frames.ts'

const NO_HEAD: ResetReason = {
  code: 'broken',
  detail: `the workload answered with more than ${MAX_HEADERS} headers, with one that is too long, or with a status outside 101 to 599`,
}

/** The stream ended with an error. */
export class StreamReset extends Error {
  override readonly name = 'StreamReset'
  readonly code: ResetReason['code']

  constructor({ code, detail }: ResetReason) {
    super(detail)
    this.code = code
  }
}

/** The connection of a stream to its tunnel. */
export interface StreamWires {
  send(frame: Frame): void
  /** Awaited before every data frame, so that one stream does not fill the shared connection. */
  turn(): Promise<void>
  /** Called when the stream has ended in both directions or was reset. */
  onClosed(): void
}

/**
 * One end of a stream: bytes both ways, each direction limited by the credit of the other end. It has no clock and no connection: it
 * receives frames and sends frames through `StreamWires`.
 */
export class TunnelStream {
  readonly id: number
  private readonly wires: StreamWires
  /** The plane opens, an agent answers; only the answer begins with `accept` and `head`. */
  private readonly isOpener: boolean
  /** Bytes that the other end still accepts. */
  private sendable: number
  /** Bytes that this end still accepts, the size of its window, and bytes read but not granted again yet. */
  private receivable: number
  private readonly windowBytes: number
  private unsaid = 0
  private readonly arrived: Uint8Array[] = []
  private localEnded = false
  private remoteEnded = false
  private closed = false
  private failure: StreamReset | null = null
  private isAccepted = false
  private hasHead = false
  private wakeReader = Promise.withResolvers<void>()
  private wakeWriter = Promise.withResolvers<void>()
  private readonly acceptance = Promise.withResolvers<void>()
  private readonly heading = Promise.withResolvers<StreamHead>()
  private readonly ending = Promise.withResolvers<void>()

  /** `granted`: bytes that the opening end granted to the answering one; null at the opening end, which gets its grant with `accept`. */
  constructor(id: number, windowBytes: number, granted: number | null, wires: StreamWires) {
    this.id = id
    this.windowBytes = windowBytes
    this.receivable = windowBytes
    this.isOpener = granted === null
    this.sendable = granted ?? 0
    this.wires = wires
    // Handled here, because a caller need not await these promises.
    this.acceptance.promise.catch(() => {})
    this.heading.promise.catch(() => {})
  }

  /** Resolves when the agent serves the stream. Rejects with `StreamReset` when it does not. */
  get accepted(): Promise<void> {
    return this.acceptance.promise
  }

  /** Resolves with the head of the answer. Rejects with `StreamReset` when the stream ends before. */
  get head(): Promise<StreamHead> {
    return this.heading.promise
  }

  /** Resolves when the stream has ended, with or without an error. */
  get over(): Promise<void> {
    return this.ending.promise
  }

  /** Agent: accepts the stream; the plane may send. */
  accept(): void {
    if (!this.closed) this.wires.send({ type: 'accept', stream: this.id, window: this.windowBytes })
  }

  /** Agent: sends the head of the workload's answer. If it cannot be encoded, only this stream is reset. */
  sendHead(head: StreamHead): void {
    if (this.closed) return
    const frame = { type: 'head', stream: this.id, head } as const
    if (isUnderstood(frame)) this.wires.send(frame)
    else this.reset(NO_HEAD)
  }

  /** Resolves when all bytes are sent. Throws when the stream is over. One writer at a time. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      await this.wires.turn()
      while (this.sendable === 0 && !this.closed) await this.wakeWriter.promise
      if (this.closed || this.localEnded) throw this.failure ?? new StreamReset({ code: 'broken', detail: 'the stream is over' })
      const part = bytes.subarray(from, from + Math.min(MAX_DATA_BYTES, this.sendable))
      this.sendable -= part.length
      from += part.length
      this.wires.send({ type: 'data', stream: this.id, bytes: part })
    }
  }

  /** Ends this direction. */
  end(): void {
    if (this.localEnded || this.closed) return
    this.localEnded = true
    this.wires.send({ type: 'end', stream: this.id })
    this.closeIfOver()
  }

  /** Returns the next bytes, or null at the end; rejects with `StreamReset` when the stream was reset. One reader at a time. */
  async read(): Promise<Uint8Array | null> {
    for (;;) {
      const bytes = this.arrived.shift()
      if (bytes !== undefined) {
        this.grant(bytes.length)
        return bytes
      }
      if (this.failure) throw this.failure
      if (this.remoteEnded) return null
      await this.wakeReader.promise
    }
  }

  /** Ends the stream with an error. Bytes that have arrived and were not read are lost. */
  reset(reason: ResetReason): void {
    if (this.closed) return
    this.wires.send({ type: 'reset', stream: this.id, reason })
    this.fail(reason)
  }

  /** Processes a frame of the other end. Throws `TunnelViolation` for one that violates the protocol. */
  receive(frame: Exclude<Frame, { type: 'open' }>): void {
    switch (frame.type) {
      case 'accept':
        if (this.isAccepted || !this.isOpener) throw new TunnelViolation('an acceptance out of turn')
        this.isAccepted = true
        this.grow(frame.window)
        this.acceptance.resolve()
        return
      case 'head':
        if (this.hasHead || !this.isAccepted) throw new TunnelViolation('a head out of turn')
        this.hasHead = true
        this.heading.resolve(frame.head)
        return
      case 'data':
        this.take(frame.bytes)
        return
      case 'credit':
        this.grow(frame.bytes)
        return
      case 'end':
        if (this.remoteEnded || (this.isOpener && !this.hasHead)) throw new TunnelViolation('an end out of turn')
        this.remoteEnded = true
        this.wake()
        this.closeIfOver()
        return
      case 'reset':
        this.fail(frame.reason)
        return
      default:
        frame satisfies never
    }
  }

  /** Ends the stream because the tunnel has ended or the other end has reset it. */
  fail(reason: ResetReason): void {
    if (this.closed) return
    this.failure = new StreamReset(reason)
    this.arrived.length = 0
    this.acceptance.reject(this.failure)
    this.heading.reject(this.failure)
    this.close()
  }

  private take(bytes: Uint8Array): void {
    if (this.remoteEnded || (this.isOpener && !this.hasHead)) throw new TunnelViolation('data out of turn')
    if (bytes.length > this.receivable) throw new TunnelViolation('data beyond the window')
    this.receivable -= bytes.length
    this.arrived.push(bytes)
    this.wake()
  }

  private grow(bytes: number): void {
    if (this.sendable + bytes > 2 ** 32) throw new TunnelViolation('more credit than any window')
    this.sendable += bytes
    this.wake()
  }

  // Credit is granted in quarters of the window: a frame for every read would double the number of frames.
  private grant(bytes: number): void {
    this.unsaid += bytes
    if (this.unsaid < this.windowBytes / 4 || this.remoteEnded || this.closed) return
    this.receivable += this.unsaid
    this.wires.send({ type: 'credit', stream: this.id, bytes: this.unsaid })
    this.unsaid = 0
  }

  private closeIfOver(): void {
    if (this.localEnded && this.remoteEnded) this.close()
  }

  private close(): void {
    if (this.closed) return
    this.closed = true
    this.wake()
    const none = { code: 'broken', detail: 'the stream ended before its head' } as const
    this.acceptance.reject(new StreamReset(none))
    this.heading.reject(new StreamReset(none))
    this.ending.resolve()
    this.wires.onClosed()
  }

  private wake(): void {
    this.wakeReader.resolve()
    this.wakeWriter.resolve()
    this.wakeReader = Promise.withResolvers<void>()
    this.wakeWriter = Promise.withResolvers<void>()
  }
}
