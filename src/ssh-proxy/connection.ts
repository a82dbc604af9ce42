import { WebSocket } from 'ws'
import {
  type ChannelMessage,
  decodeChannel,
  type ExitStatus,
  encodeChannel,
  FLOW_WINDOW_BYTES,
  failure,
  MAX_CHANNEL_BYTES,
  type Signal,
} from '../host-protocol/tunnel/channels.ts'

const NORMAL = 1000

/** Bytes that a command in a pod has written. */
export interface Output {
  channel: 'stdout' | 'stderr'
  bytes: Uint8Array
}

/**
 * A command in a pod, or a connection to one of its ports, over one WebSocket to the plane. Buffers at most one window in each direction.
 */
export class PodConnection {
  private readonly socket: WebSocket
  private readonly arrived: Output[] = []
  private unsaid = 0
  private sendable = FLOW_WINDOW_BYTES
  private ended: ExitStatus | null = null
  private wake = Promise.withResolvers<void>()

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.binaryType = 'nodebuffer'
    socket.on('message', (data, isBinary) => {
      const message = isBinary ? decodeChannel(data as Buffer) : null
      if (message !== null) this.hear(message)
    })
    socket.on('close', (_code, reason) => this.end(failure(reason.toString('utf8') || 'the connection to the pod ended')))
    socket.on('error', () => socket.terminate())
  }

  /** Returns the next output; null behind the last. One reader at a time. */
  async read(): Promise<Output | null> {
    for (;;) {
      const next = this.arrived.shift()
      if (next !== undefined) {
        this.grant(next.bytes.length)
        return next
      }
      if (this.ended !== null) return null
      await this.wake.promise
    }
  }

  /** The exit status; valid after `read` has returned null. */
  get status(): ExitStatus {
    return this.ended ?? failure('it has not ended')
  }

  /** Resolves when all bytes are sent; after the end they are discarded. One writer at a time. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length && this.ended === null; ) {
      if (this.sendable === 0) {
        await this.wake.promise
        continue
      }
      const part = bytes.subarray(from, from + Math.min(this.sendable, MAX_CHANNEL_BYTES))
      this.sendable -= part.length
      from += part.length
      this.say({ channel: 'stdin', bytes: part })
    }
  }

  endInput(): void {
    this.say({ channel: 'close' })
  }

  resize(rows: number, cols: number): void {
    this.say({ channel: 'resize', rows, cols })
  }

  signal(signal: Signal): void {
    this.say({ channel: 'signal', signal })
  }

  /** Closes the WebSocket, after the client has left. */
  close(): void {
    this.socket.close(NORMAL)
  }

  private hear(message: ChannelMessage): void {
    if (message.channel === 'stdout' || message.channel === 'stderr') this.arrived.push({ channel: message.channel, bytes: message.bytes })
    else if (message.channel === 'credit') this.sendable += message.bytes
    else if (message.channel === 'status') this.end(message.status)
    this.next()
  }

  private end(status: ExitStatus): void {
    this.ended ??= status
    this.next()
  }

  private grant(bytes: number): void {
    this.unsaid += bytes
    if (this.unsaid < FLOW_WINDOW_BYTES / 4 || this.ended !== null) return
    this.say({ channel: 'credit', bytes: this.unsaid })
    this.unsaid = 0
  }

  private say(message: ChannelMessage): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(encodeChannel(message))
  }

  private next(): void {
    this.wake.resolve()
    this.wake = Promise.withResolvers<void>()
  }
}
