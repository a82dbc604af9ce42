import fc from 'fast-check'
import {
  decodeFrame,
  encodeFrame,
  type Frame,
  MAX_DATA_BYTES,
  type RequestTarget,
  type StreamHead,
  TunnelViolation,
} from '../../src/host-protocol/tunnel/frames.ts'
import { encodeRecord, MAX_MESSAGE_BYTES, RecordReader, type SocketRecord } from '../../src/host-protocol/tunnel/socket-records.ts'
import type { TunnelStream } from '../../src/host-protocol/tunnel/stream.ts'
import { TunnelEnd } from '../../src/host-protocol/tunnel/tunnel-end.ts'
import { LARGE_WINDOW_BYTES, MAX_STREAMS_OF_ONE, SMALL_WINDOW_BYTES, Windows } from '../../src/host-protocol/tunnel/windows.ts'
import { describe, expect, it } from '../support/unit.ts'

const TARGET: Omit<RequestTarget, 'window'> = { kind: 'http', workloadId: 'w1', port: 80, method: 'POST', path: '/', headers: [] }

/** Two ends of a tunnel, and the messages in flight between them, which the test delivers. */
class Wire {
  readonly toAgent: Uint8Array[] = []
  readonly toPlane: Uint8Array[] = []
  readonly opened: TunnelStream[] = []
  readonly plane = new TunnelEnd({ send: (message) => this.toAgent.push(message) })
  readonly agent = new TunnelEnd({ send: (message) => this.toPlane.push(message), onOpen: (stream) => this.opened.push(stream) })

  /** Delivers the next message of one direction. */
  step(down: boolean): void {
    const message = (down ? this.toAgent : this.toPlane).shift()
    if (message) (down ? this.agent : this.plane).receive(message)
  }

  /** Delivers all messages, including the replies to them. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      await tick()
      const isQuiet = this.toAgent.length + this.toPlane.length === 0
      quiet = isQuiet ? quiet + 1 : 0
      while (this.toAgent.length > 0) this.step(true)
      while (this.toPlane.length > 0) this.step(false)
    }
  }

  /** A stream that is accepted and has its head. */
  async stream(): Promise<{ plane: TunnelStream; agent: TunnelStream }> {
    const plane = this.plane.open(TARGET, 'a')
    await this.settle()
    const agent = this.opened.at(-1)
    if (!plane || !agent) throw new Error('not opened')
    agent.accept()
    agent.sendHead({ status: 200, headers: [] })
    await this.settle()
    return { plane, agent }
  }
}

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

async function readAll(stream: TunnelStream): Promise<number[]> {
  const all: number[] = []
  for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) all.push(...bytes)
  return all
}

describe('[NET-53] invalid heads of a client or a workload', () => {
  const many = Array.from({ length: 257 }, (_, n): [string, string] => [`x-${n}`, ''])
  const neighbours = async () => {
    const wire = new Wire()
    return { wire, beside: await wire.stream() }
  }
  const goesOn = async ({ wire, beside }: Awaited<ReturnType<typeof neighbours>>) => {
    await beside.agent.write(new Uint8Array([1]))
    beside.agent.end()
    beside.plane.end()
    await wire.settle()
    expect(await readAll(beside.plane)).toEqual([1])
  }

  it.each<[string, StreamHead]>([
    ['257 headers', { status: 200, headers: many }],
    ['a name of 1025 characters', { status: 200, headers: [['x'.repeat(1025), '']] }],
    ['status 600', { status: 600, headers: [] }],
    ['status 100', { status: 100, headers: [] }],
    [
      'more than a frame',
      {
        status: 200,
        headers: [
          ['a', '\u0001'.repeat(32_000)],
          ['b', '\u0001'.repeat(32_000)],
        ],
      },
    ],
  ])('an answer with %s ends only its own stream', async (_, head) => {
    const scene = await neighbours()
    const stream = scene.wire.plane.open(TARGET, 'a')
    await scene.wire.settle()
    const answering = scene.wire.opened.at(-1)
    answering?.accept()
    answering?.sendHead(head)
    await scene.wire.settle()
    await expect(stream?.head).rejects.toThrow('the workload answered with more than 256 headers')
    await goesOn(scene)
  })

  it.each<[string, Partial<typeof TARGET>]>([
    ['257 headers', { headers: many }],
    ['a path of 16,385 characters', { path: `/${'x'.repeat(16_384)}` }],
    ['a method that is none', { method: 'a b' }],
  ])('a request with %s is not sent, and other streams continue', async (_, change) => {
    const scene = await neighbours()
    const stream = scene.wire.plane.open({ ...TARGET, ...change }, 'a')
    await expect(stream?.accepted).rejects.toThrow('the request is too large')
    expect([scene.wire.toAgent, scene.wire.plane.size]).toEqual([[], 1])
    await goesOn(scene)
  })
})

describe('frames of the tunnel', () => {
  it('[HOST-120] every frame is read as it was written', () => {
    const frames: Frame[] = [
      { type: 'open', stream: 7, target: { ...TARGET, headers: [['a', 'ü']], window: 9 } },
      { type: 'accept', stream: 7, window: 262_144 },
      { type: 'head', stream: 7, head: { status: 200, headers: [['x-a', '1']] } },
      { type: 'data', stream: 4_294_967_295, bytes: new Uint8Array([1, 2, 3]) },
      { type: 'credit', stream: 7, bytes: 1 },
      { type: 'end', stream: 7 },
      { type: 'reset', stream: 7, reason: { code: 'broken', detail: 'gone' } },
    ]
    expect(frames.map((frame) => decodeFrame(encodeFrame(frame)))).toEqual(frames)
  })

  it('[HOST-121] any bytes are a frame or a violation, and nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          decodeFrame(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(TunnelViolation)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('[HOST-121] oversized data, targets with an unknown path or method, and zero counts are violations', () => {
    const long = encodeFrame({ type: 'data', stream: 1, bytes: new Uint8Array(MAX_DATA_BYTES + 1) })
    const path = encodeFrame({ type: 'open', stream: 1, target: { ...TARGET, path: 'http://elsewhere/', window: 1 } })
    const method = encodeFrame({ type: 'open', stream: 1, target: { ...TARGET, method: 'GET / HTTP/1.1\r\nx: y', window: 1 } })
    const nothing = encodeFrame({ type: 'credit', stream: 1, bytes: 0 })
    for (const message of [long, path, method, nothing]) expect(() => decodeFrame(message)).toThrow(TunnelViolation)
  })
})

describe('streams of the tunnel', () => {
  it('[HOST-122] whatever order messages arrive in, no byte is lost, reordered or sent beyond the window', async () => {
    const run = fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 12 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
      async (up, down, choices) => {
        const wire = new Wire()
        const { plane, agent } = await wire.stream()
        const bytesOf = (sizes: number[]) =>
          sizes.map((size, turn) => new Uint8Array(size).map((_, at) => (at * 31 + turn * 7 + size) & 255))
        const sent = { up: bytesOf(up), down: bytesOf(down) }
        const got: { up: Uint8Array[]; down: Uint8Array[] } = { up: [], down: [] }
        let finished = 0
        const writeAll = async (stream: TunnelStream, parts: Uint8Array[]) => {
          for (const part of parts) await stream.write(part)
          stream.end()
          finished++
        }
        let most = 0
        const readSome = async (stream: TunnelStream, into: Uint8Array[]) => {
          for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) {
            into.push(bytes)
            if (choices.next().value === 0) await tick()
          }
          finished++
        }
        void writeAll(plane, sent.up)
        void writeAll(agent, sent.down)
        void readSome(agent, got.up)
        void readSome(plane, got.down)
        for (let turn = 0; finished < 4 && turn < 20_000; turn++) {
          wire.step(choices.next().value % 2 === 0)
          const waiting = (messages: Uint8Array[]) => messages.reduce((sum, message) => sum + Math.max(0, message.length - 5), 0)
          most = Math.max(most, waiting(wire.toAgent), waiting(wire.toPlane))
          if (turn % 3 === 0) await tick()
        }
        expect(most).toBeLessThanOrEqual(LARGE_WINDOW_BYTES + 64)
        expect(Buffer.concat(sent.up).equals(Buffer.concat(got.up))).toBe(true)
        expect(Buffer.concat(sent.down).equals(Buffer.concat(got.down))).toBe(true)
        await wire.settle()
        expect([wire.plane.size, wire.agent.size]).toEqual([0, 0])
      },
    )
    await fc.assert(run, { numRuns: 25 })
  })

  it('[HOST-122] a reader that stops holds its own stream back, and no other', async () => {
    const wire = new Wire()
    const slow = await wire.stream()
    const quick = await wire.stream()
    let written = 0
    const flood = async () => {
      for (;;) {
        await slow.agent.write(new Uint8Array(10_000))
        written += 10_000
      }
    }
    const flooded = expect(flood()).rejects.toThrow('the reader left')
    await wire.settle()
    expect(written).toBeLessThanOrEqual(LARGE_WINDOW_BYTES)
    await quick.agent.write(new Uint8Array([1, 2, 3]))
    quick.agent.end()
    await wire.settle()
    expect(await readAll(quick.plane)).toEqual([1, 2, 3])
    slow.plane.reset({ code: 'cancelled', detail: 'the reader left' })
    await wire.settle()
    await flooded
  })

  it('[HOST-121] data beyond the window, out of order or after the end is a violation', async () => {
    const beyond = await new Wire().stream()
    const part = { type: 'data', stream: 0, bytes: new Uint8Array(MAX_DATA_BYTES) } as const
    expect(() => {
      for (let sent = 0; sent <= LARGE_WINDOW_BYTES; sent += MAX_DATA_BYTES) beyond.plane.receive(part)
    }).toThrow('data beyond the window')
    const wire = new Wire()
    const early = wire.plane.open(TARGET, 'a')
    expect(() => early?.receive(part)).toThrow('data out of turn')
    expect(() => early?.receive({ type: 'head', stream: 0, head: { status: 200, headers: [] } })).toThrow('a head out of turn')
    const ended = await new Wire().stream()
    ended.plane.receive({ type: 'end', stream: 0 })
    expect(() => ended.plane.receive(part)).toThrow('data out of turn')
    expect(() => ended.agent.receive({ type: 'accept', stream: 0, window: 1 })).toThrow('an acceptance out of turn')
  })

  it('[HOST-121] no stream is opened towards the plane, and no number is used twice', async () => {
    const wire = new Wire()
    await wire.stream()
    const again = encodeFrame({ type: 'open', stream: 0, target: { ...TARGET, window: 1 } })
    expect(() => wire.plane.receive(again)).toThrow(TunnelViolation)
    expect(() => wire.agent.receive(again)).toThrow(TunnelViolation)
  })

  it('[HOST-121] late messages for an ended stream change nothing', async () => {
    const wire = new Wire()
    const { plane } = await wire.stream()
    plane.reset({ code: 'cancelled', detail: 'left' })
    wire.plane.receive(encodeFrame({ type: 'data', stream: 0, bytes: new Uint8Array(9) }))
    expect(wire.plane.size).toBe(0)
  })

  it('[HOST-120] callers that wait for a stream are notified that its tunnel is gone', async () => {
    const wire = new Wire()
    const { plane } = await wire.stream()
    const waits = [
      expect(plane.read()).rejects.toThrow('no connection'),
      expect(wire.plane.open(TARGET, 'a')?.head).rejects.toThrow('no connection'),
    ]
    wire.plane.fail('no connection')
    await Promise.all(waits)
    await expect(plane.write(new Uint8Array(1))).rejects.toThrow('no connection')
  })

  it('[HOST-123] each workload gets its own share of streams and of large windows', () => {
    const windows = new Windows()
    const opener = (workloadId: string) => ({ workloadId, account: 'one', isTerminal: false })
    const sizes = Array.from({ length: MAX_STREAMS_OF_ONE + 1 }, () => windows.open(opener('greedy')))
    expect([sizes.filter((size) => size === LARGE_WINDOW_BYTES).length, sizes.at(-2), sizes.at(-1)]).toEqual([24, SMALL_WINDOW_BYTES, null])
    expect(windows.open(opener('neighbour'))).toBe(LARGE_WINDOW_BYTES)
    for (const size of sizes) if (size !== null) windows.giveBack(opener('greedy'), size)
    expect([windows.streamsOf('greedy'), windows.open(opener('greedy'))]).toEqual([0, LARGE_WINDOW_BYTES])
  })
})

describe('messages of a WebSocket on a stream', () => {
  it('[HOST-124] arrive as they were sent, however the bytes are split', () => {
    const record: fc.Arbitrary<SocketRecord> = fc.oneof(
      fc.string({ unit: 'grapheme' }).map((text): SocketRecord => ({ kind: 'text', text })),
      fc.uint8Array({ maxLength: 400 }).map((bytes): SocketRecord => ({ kind: 'binary', bytes })),
      fc.integer({ min: 1000, max: 4999 }).map((code): SocketRecord => ({ kind: 'close', code, reason: 'over' })),
    )
    fc.assert(
      fc.property(fc.array(record, { maxLength: 12 }), fc.integer({ min: 1, max: 40 }), (records, cut) => {
        const bytes = records.flatMap((one) => [...(encodeRecord(one) ?? [])])
        const reader = new RecordReader()
        const out: SocketRecord[] = []
        for (let at = 0; at < bytes.length; at += cut) out.push(...reader.push(new Uint8Array(bytes.slice(at, at + cut))))
        expect(out).toEqual(records)
      }),
    )
  })

  it('[HOST-124] a message above a megabyte is not sent, and a header that announces one is a violation', () => {
    expect(encodeRecord({ kind: 'binary', bytes: new Uint8Array(MAX_MESSAGE_BYTES + 1) })).toBeNull()
    expect(() => new RecordReader().push(new Uint8Array([2, 255, 0, 0, 0]))).toThrow(TunnelViolation)
    expect(() => new RecordReader().push(new Uint8Array([9, 0, 0, 0, 0]))).toThrow(TunnelViolation)
  })
})
