import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type ExecOutput, ExecRefused, type ExecSession } from '../../../src/host-agent/runtime.ts'
import { serveChannels } from '../../../src/host-agent/tunnel/channel-session.ts'
import { Pace } from '../../../src/host-agent/tunnel/pace.ts'
import { openTcp } from '../../../src/host-agent/tunnel/tcp-session.ts'
import { type ChannelMessage, decodeChannel, encodeChannel, FLOW_WINDOW_BYTES } from '../../../src/host-protocol/tunnel/channels.ts'
import { encodeRecord, RecordReader } from '../../../src/host-protocol/tunnel/socket-records.ts'
import type { TunnelStream } from '../../../src/host-protocol/tunnel/stream.ts'
import { TunnelEnd } from '../../../src/host-protocol/tunnel/tunnel-end.ts'
import { waitUntil } from '../../support/time.ts'

/** A command that a test plays. */
class Played implements ExecSession {
  readonly calls: string[] = []
  written = 0
  private readonly pieces: ExecOutput[] = []
  private isOver = false
  private wake: () => void = () => {}

  readonly output: AsyncIterable<ExecOutput> = this.read()

  print(channel: 'stdout' | 'stderr', bytes: Uint8Array): void {
    this.pieces.push({ channel, bytes })
    this.wake()
  }

  over(): void {
    this.isOver = true
    this.wake()
  }

  /** Awaited before any input is read. */
  isReading: Promise<void> = Promise.resolve()

  async write(bytes: Uint8Array): Promise<void> {
    await this.isReading
    this.written += bytes.length
    this.calls.push('write')
  }

  endInput(): void {
    this.calls.push('endInput')
  }

  async resize(rows: number, cols: number): Promise<void> {
    this.calls.push(`resize ${rows} ${cols}`)
  }

  async signal(signal: string): Promise<void> {
    this.calls.push(`signal ${signal}`)
  }

  async exitCode(): Promise<number> {
    return 7
  }

  async end(): Promise<void> {
    this.calls.push('end')
    this.over()
  }

  private async *read(): AsyncGenerator<ExecOutput> {
    for (;;) {
      const next = this.pieces.shift()
      if (next !== undefined) yield next
      else if (this.isOver) return
      else
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
    }
  }
}

/** The plane's end of one command. */
class Client {
  readonly heard: ChannelMessage[] = []
  bytes = 0
  isClosed = false
  readonly stream: TunnelStream
  /** The other end of it. */
  agentStream: TunnelStream | undefined

  constructor(start: () => Promise<ExecSession>, flow: boolean) {
    const agent: TunnelEnd = new TunnelEnd({
      send: (message) => queueMicrotask(() => plane.receive(message)),
      onOpen: (stream) => {
        this.agentStream = stream
        void serveChannels(stream, start, flow)
      },
    })
    const plane: TunnelEnd = new TunnelEnd({ send: (message) => queueMicrotask(() => agent.receive(message)) })
    const stream = plane.open({ kind: 'exec', workloadId: 'w', command: null, terminal: null, flow }, 'account')
    if (stream === null) throw new Error('no stream')
    this.stream = stream
    this.listen().catch(() => undefined)
  }

  async say(message: ChannelMessage): Promise<void> {
    await this.stream.accepted
    await this.stream.write(encodeRecord({ kind: 'binary', bytes: encodeChannel(message) }) ?? new Uint8Array())
  }

  private async listen(): Promise<void> {
    const reader = new RecordReader()
    await this.stream.head
    for (let bytes = await this.stream.read(); bytes !== null; bytes = await this.stream.read()) {
      for (const record of reader.push(bytes)) {
        const message = record.kind === 'binary' ? decodeChannel(record.bytes) : null
        if (message !== null) this.heard.push(message)
        if (message?.channel === 'stdout') this.bytes += message.bytes.length
        if (record.kind === 'close') this.isClosed = true
      }
    }
  }
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe('a command over the tunnel', () => {
  test('[HOST-131] gets the messages of the client in order, and its exit code is sent last', async () => {
    const played = new Played()
    const client = new Client(async () => played, false)
    await client.say({ channel: 'stdin', bytes: bytesOf('in') })
    await client.say({ channel: 'resize', rows: 10, cols: 20 })
    await client.say({ channel: 'signal', signal: 'INT' })
    await client.say({ channel: 'close' })
    played.print('stderr', bytesOf('err'))
    await waitUntil('the end of input', () => played.calls.includes('endInput'))
    played.over()
    await waitUntil('a close', () => client.isClosed)
    expect([played.written, played.calls.slice(0, 4)]).toEqual([2, ['write', 'resize 10 20', 'signal INT', 'endInput']])
    expect(client.heard).toMatchObject([{ channel: 'stderr' }, { channel: 'status', status: { status: 'Failure', exitCode: 7 } }])
  })

  test('[HOST-132] is paused by a client that reads slowly, and continues when that grants more', async () => {
    const played = new Played()
    const client = new Client(async () => played, true)
    for (let i = 0; i < 100; i += 1) played.print('stdout', new Uint8Array(32 * 1024))
    await waitUntil('a window', () => client.bytes === FLOW_WINDOW_BYTES)
    await client.say({ channel: 'credit', bytes: 1_000 })
    await waitUntil('what was granted', () => client.bytes === FLOW_WINDOW_BYTES + 1_000)
    // Input is granted as it is read, independently of the output.
    for (let i = 0; i < 20; i += 1) {
      await client.say({ channel: 'stdin', bytes: new Uint8Array(16 * 1024) })
      await waitUntil('taken input', () => played.written === (i + 1) * 16 * 1024)
    }
    const granted = client.heard.map((message) => (message.channel === 'credit' ? message.bytes : 0)).reduce((a, b) => a + b)
    expect(granted).toBeGreaterThanOrEqual(256 * 1024)
    expect(client.bytes).toBe(FLOW_WINDOW_BYTES + 1_000)
  })

  test('[HOST-131, HOST-132] processes credit and sizes while it reads no input, and the end of input after all of it', async () => {
    const played = new Played()
    const reading = Promise.withResolvers<void>()
    played.isReading = reading.promise
    const client = new Client(async () => played, true)
    await client.say({ channel: 'stdin', bytes: bytesOf('in') })
    await client.say({ channel: 'close' })
    await client.say({ channel: 'resize', rows: 10, cols: 20 })
    await waitUntil('its size', () => played.calls.includes('resize 10 20'))
    reading.resolve()
    await waitUntil('the end of input', () => played.calls.includes('endInput'))
    expect(played.calls).toEqual(['resize 10 20', 'write', 'endInput'])
  })

  test('[HOST-133] ends when its client has left, also one that left while it began', async () => {
    const played = new Played()
    const client = new Client(async () => played, false)
    await client.stream.accepted
    client.stream.reset({ code: 'cancelled', detail: 'left' })
    await waitUntil('its end', () => played.calls.includes('end'))
    const late = new Played()
    const begin = Promise.withResolvers<ExecSession>()
    const hasty = new Client(() => begin.promise, false)
    await hasty.stream.accepted
    hasty.stream.reset({ code: 'cancelled', detail: 'left' })
    await hasty.agentStream?.over
    begin.resolve(late)
    await waitUntil('its end', () => late.calls.includes('end'))
  })

  test('[HOST-134] that cannot begin returns the reason', async () => {
    const client = new Client(async () => Promise.reject(new ExecRefused('the container does not run')), false)
    await waitUntil('a close', () => client.isClosed)
    expect(client.heard).toMatchObject([
      { channel: 'status', status: { status: 'Failure', exitCode: null, message: 'the container does not run' } },
    ])
  })
})

test('[HOST-137] has a burst and a rate for output without credit, and the burst is restored', () => {
  let nowMs = 0
  const pace = new Pace(() => nowMs)
  expect([pace.take(8 * 2 ** 20), pace.take(512 * 1024), pace.take(256 * 1024)]).toEqual([0, 1_000, 1_500])
  nowMs = 1_500
  expect(pace.take(0)).toBe(0)
  nowMs = 3_600_000
  expect([pace.take(8 * 2 ** 20), pace.take(1024)]).toEqual([0, expect.closeTo(1.95, 1)])
})

describe('a connection to a port of a workload', () => {
  const closers: (() => void)[] = []
  afterEach(() => {
    for (const close of closers.splice(0)) close()
  })

  test('[HOST-136] is opened to its address, or inside the workload where only that reaches the port', async () => {
    const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1')
    closers.push(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const commands: (readonly string[])[] = []
    const run = async (command: readonly string[]) => {
      commands.push(command)
      return new Played()
    }
    const direct = await openTcp({ place: { host: '127.0.0.1', port }, port: 80, run })
    const pieces: Uint8Array[] = []
    for await (const { bytes } of direct.output) pieces.push(bytes)
    expect([Buffer.concat(pieces).toString(), commands]).toEqual(['hello', []])
    await direct.end()
    server.close()
    await once(server, 'close')
    await openTcp({ place: { host: '127.0.0.1', port }, port: 80, run })
    expect(commands.map((command) => command.at(-1))).toEqual(['80'])
  })
})
