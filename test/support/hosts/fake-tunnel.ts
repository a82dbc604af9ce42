import { type OpenTarget, type RequestTarget, TUNNEL_ABILITIES, TUNNEL_ABILITIES_HEADER } from '../../../src/host-protocol/tunnel/frames.ts'
import type { TunnelStream } from '../../../src/host-protocol/tunnel/stream.ts'
import { TunnelEnd } from '../../../src/host-protocol/tunnel/tunnel-end.ts'
import { expect, send } from '../harness.ts'
import type { FakeHost } from './fake-host.ts'

export interface Served {
  stream: TunnelStream
  /** The target of a request. */
  target: RequestTarget
  /** The target of any stream. */
  opened: OpenTarget
}
export type Serve = (served: Served) => void | Promise<void>

/** The agent's end of a tunnel, with workers that a test plays: `serve` answers every request. */
export class FakeTunnel {
  readonly socket: WebSocket
  /** Served streams in the order of their arrival. */
  readonly served: Served[] = []
  serve: Serve
  private readonly end: TunnelEnd

  private constructor(socket: WebSocket, serve: Serve) {
    this.socket = socket
    this.serve = serve
    this.end = new TunnelEnd({
      send: (message) => socket.send(message),
      onOpen: (stream, target) => {
        const served = { stream, target: target as RequestTarget, opened: target }
        this.served.push(served)
        void Promise.resolve(this.serve(served)).catch(() => undefined)
      },
    })
    socket.addEventListener('message', ({ data }) => {
      if (data instanceof ArrayBuffer) this.end.receive(new Uint8Array(data))
    })
    // With a recent compatibility date the data would be a Blob, which is read later than the messages after it.
    socket.binaryType = 'arraybuffer'
    socket.accept()
  }

  /** Number of streams that have not ended. */
  get openStreams(): number {
    return this.end.size
  }

  static async open(host: FakeHost, serve: Serve = echo, serves: readonly string[] = TUNNEL_ABILITIES): Promise<FakeTunnel> {
    const reply = await send('/host/v1/tunnel', {
      headers: { Upgrade: 'websocket', Authorization: `Bearer ${host.accessToken}`, [TUNNEL_ABILITIES_HEADER]: serves.join(',') },
    })
    expect(reply.status).toBe(101)
    if (!reply.webSocket) throw new Error('no socket')
    return new FakeTunnel(reply.webSocket, serve)
  }
}

/** Answers with the request that it received. */
export async function echo({ stream, target }: Served): Promise<void> {
  stream.accept()
  const body = await readBytes(stream)
  await reply(stream, 200, JSON.stringify({ ...target, body: new TextDecoder().decode(body) }), [['content-type', 'application/json']])
}

export async function reply(stream: TunnelStream, status: number, body: string, headers: [string, string][] = []): Promise<void> {
  stream.sendHead({ status, headers })
  await stream.write(new TextEncoder().encode(body))
  stream.end()
}

export async function readBytes(stream: TunnelStream): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) parts.push(bytes)
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  parts.reduce((at, part) => {
    all.set(part, at)
    return at + part.length
  }, 0)
  return all
}
