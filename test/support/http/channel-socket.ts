import { type ChannelMessage, decodeChannel, type ExitStatus, encodeChannel } from '../../../src/host-protocol/tunnel/channels.ts'
import { encodeRecord, RecordReader } from '../../../src/host-protocol/tunnel/socket-records.ts'
import type { TunnelStream } from '../../../src/host-protocol/tunnel/stream.ts'
import { until } from '../time.ts'

/** A client's end of a command. */
export class ChannelSocket {
  readonly heard: ChannelMessage[] = []
  closed: { code: number; reason: string } | null = null
  private readonly socket: WebSocket

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => {
      const message = data instanceof ArrayBuffer ? decodeChannel(new Uint8Array(data)) : null
      if (message !== null) this.heard.push(message)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason }
    })
    socket.accept()
  }

  say(message: ChannelMessage): void {
    this.socket.send(encodeChannel(message))
  }

  type(text: string): void {
    this.say({ channel: 'stdin', bytes: new TextEncoder().encode(text) })
  }

  text(channel: 'stdout' | 'stderr'): string {
    const decoder = new TextDecoder()
    return this.heard.map((message) => (message.channel === channel ? decoder.decode(message.bytes) : '')).join('')
  }

  close(): void {
    this.socket.close(1000, 'done')
  }

  async status(): Promise<ExitStatus> {
    const find = () => this.heard.find((message) => message.channel === 'status')
    await until(() => find() !== undefined)
    const found = find()
    if (found?.channel !== 'status') throw new Error('no status')
    return found.status
  }
}

/** The agent's end of a command that a test plays. */
export class PlayedCommand {
  readonly heard: ChannelMessage[] = []
  /** Whether the other end has closed. */
  isOver = false
  private readonly stream: TunnelStream

  constructor(stream: TunnelStream) {
    this.stream = stream
    stream.accept()
    stream.sendHead({ status: 101, headers: [] })
    void this.listen().finally(() => {
      this.isOver = true
    })
  }

  async say(message: ChannelMessage): Promise<void> {
    const record = encodeRecord({ kind: 'binary', bytes: encodeChannel(message) })
    if (record !== null) await this.stream.write(record)
  }

  async print(text: string): Promise<void> {
    await this.say({ channel: 'stdout', bytes: new TextEncoder().encode(text) })
  }

  async exit(status: ExitStatus): Promise<void> {
    await this.say({ channel: 'status', status })
    const record = encodeRecord({ kind: 'close', code: 1000, reason: '' })
    if (record !== null) await this.stream.write(record)
    this.stream.end()
  }

  private async listen(): Promise<void> {
    const reader = new RecordReader()
    try {
      for (let bytes = await this.stream.read(); bytes !== null; bytes = await this.stream.read()) {
        for (const record of reader.push(bytes)) {
          if (record.kind === 'close') return
          const message = record.kind === 'binary' ? decodeChannel(record.bytes) : null
          if (message !== null) this.heard.push(message)
        }
      }
    } catch {
      // The connection was broken.
    }
  }
}
