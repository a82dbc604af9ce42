import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { Tunnel } from '../../../src/host-agent/tunnel/tunnel.ts'
import type { RequestTarget } from '../../../src/host-protocol/tunnel/frames.ts'
import { encodeRecord, RecordReader, type SocketRecord } from '../../../src/host-protocol/tunnel/socket-records.ts'
import type { TunnelStream } from '../../../src/host-protocol/tunnel/stream.ts'
import { TunnelEnd } from '../../../src/host-protocol/tunnel/tunnel-end.ts'
import { waitUntil } from '../../support/time.ts'

const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** The plane's end of the tunnel, played on a real WebSocket. */
class PlaneEnd {
  end!: TunnelEnd
  socket: WebSocket | undefined
  connections = 0
  private readonly server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  private next = 0

  /** Opens a tunnel of an agent whose workload `w1` is at `port`. */
  static async with(port: number): Promise<PlaneEnd> {
    const plane = new PlaneEnd()
    plane.server.on('connection', (socket, request) => {
      expect([request.url, request.headers.authorization]).toEqual(['/host/v1/tunnel', 'Bearer token'])
      plane.connections += 1
      plane.socket = socket
      const end = new TunnelEnd({ send: (message) => socket.send(message), firstStream: plane.next })
      plane.end = end
      socket.on('message', (data, isBinary) => {
        if (isBinary) end.receive(data as Buffer)
        else socket.send('pong')
      })
      socket.on('close', () => end.fail('gone'))
    })
    await once(plane.server, 'listening')
    const url = `http://127.0.0.1:${(plane.server.address() as AddressInfo).port}`
    const tokens = { get: async () => 'token', invalidate: () => {} }
    const place = async (id: string) => (id === 'w1' ? { host: '127.0.0.1', port } : undefined)
    const tunnel = new Tunnel({ planeUrl: url, tokens, log: QUIET, place, exec: () => undefined, accountOf: () => undefined })
    tunnel.open()
    closers.push(
      () => tunnel.close(),
      () => plane.server.close(),
      () => plane.socket?.terminate(),
    )
    await waitUntil('a tunnel', () => plane.connections === 1)
    return plane
  }

  open(change: Partial<RequestTarget> = {}): TunnelStream {
    this.next = this.end.nextStream + 1
    const stream = this.end.open(
      {
        kind: 'http',
        workloadId: 'w1',
        port: 80,
        method: 'GET',
        path: '/',
        headers: [['host', 'w']],
        ...change,
      },
      'account',
    )
    if (stream === null) throw new Error('no stream')
    return stream
  }

  /** One whole request. */
  async ask(change: Partial<RequestTarget> = {}, body = ''): Promise<{ status: number; headers: Record<string, string>; body: Buffer }> {
    const stream = this.open(change)
    await stream.accepted
    if (body !== '') await stream.write(Buffer.from(body))
    stream.end()
    const { status, headers } = await stream.head
    return { status, headers: Object.fromEntries(headers.map(([n, v]) => [n.toLowerCase(), v])), body: await readAll(stream) }
  }
}

async function readAll(stream: TunnelStream): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) parts.push(bytes)
  return Buffer.concat(parts)
}

/** A worker's own server. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<{ server: Server; port: number }> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  )
  return { server, port: (server.address() as AddressInfo).port }
}

describe('requests through the tunnel of an agent', () => {
  test('[HOST-125] a request reaches the workload as it was sent, and its answer comes back', async () => {
    const seen: Record<string, unknown>[] = []
    const { port } = await serve((request, response) => {
      const { method, url, headers } = request
      seen.push({ method, url, own: headers['x-own'], host: headers.host })
      response.writeHead(201, { 'x-answer': 'a', 'set-cookie': ['b=1'] })
      request.pipe(response)
    })
    const plane = await PlaneEnd.with(port)
    const headers: [string, string][] = [
      ['host', 'my.example'],
      ['x-own', 'yes'],
      ['content-length', '5'],
    ]
    const answer = await plane.ask({ method: 'POST', path: '/a?b=c', headers }, 'hello')
    expect(seen).toEqual([{ method: 'POST', url: '/a?b=c', own: 'yes', host: 'my.example' }])
    expect([answer.status, answer.headers['x-answer'], answer.headers['set-cookie'], String(answer.body)]).toEqual([
      201,
      'a',
      'b=1',
      'hello',
    ])
  })

  test('[HOST-122, HOST-125] 5 MB are sent and returned whole, with a slow reader', async () => {
    const { port } = await serve((request, response) => request.pipe(response))
    const plane = await PlaneEnd.with(port)
    const stream = plane.open({
      method: 'POST',
      headers: [
        ['host', 'w'],
        ['transfer-encoding', 'chunked'],
      ],
    })
    const sent = Buffer.alloc(5 * 2 ** 20).map((_, at) => (at * 7) & 255)
    await stream.accepted
    const writing = stream.write(sent).then(() => stream.end())
    expect((await stream.head).status).toBe(200)
    expect((await readAll(stream)).equals(sent)).toBe(true)
    await writing
  })

  test('[HOST-125] the beginning of an answer arrives before its end, and redirects are passed to the client', async () => {
    let finish = () => {}
    const { port } = await serve((request, response) => {
      if (request.url === '/away') return response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
      response.write('first')
      finish = () => response.end('last')
      return undefined
    })
    const plane = await PlaneEnd.with(port)
    expect((await plane.ask({ path: '/away' })).headers.location).toBe('http://169.254.169.254/')
    const stream = plane.open()
    await stream.accepted
    stream.end()
    expect(String(await stream.read())).toBe('first')
    finish()
    expect(String(await readAll(stream))).toBe('last')
  })

  test('[HOST-126] a workload that is absent, or does not listen, is unreachable; one that dies during an answer is broken', async () => {
    const { server, port } = await serve((request, response) => {
      if (request.url === '/die') response.socket?.destroy()
    })
    const plane = await PlaneEnd.with(port)
    await expect(plane.open({ workloadId: 'w2' }).accepted).rejects.toMatchObject({ code: 'unreachable' })
    const dying = plane.open({ path: '/die' })
    await expect(dying.head).rejects.toMatchObject({ code: 'broken' })
    server.close()
    await once(server, 'close')
    await expect(plane.open().accepted).rejects.toMatchObject({
      code: 'unreachable',
      message: 'nothing listens on this port of the worker',
    })
  })

  test('[HOST-126] a client that leaves ends the request at the workload', async () => {
    let isClosed = false
    const { port } = await serve((_, response) => {
      response.write('more to come')
      response.on('close', () => {
        isClosed = true
      })
    })
    const plane = await PlaneEnd.with(port)
    const stream = plane.open()
    await stream.head
    stream.reset({ code: 'cancelled', detail: 'left' })
    await waitUntil('the end of the request', () => isClosed)
  })

  test('[HOST-124] messages of a WebSocket pass both ways, with its protocol and its close', async () => {
    const { server, port } = await serve(() => {})
    const sockets = new WebSocketServer({ server, handleProtocols: () => 'chat' })
    sockets.on('connection', (socket) => {
      socket.on('message', (data, isBinary) => {
        if (String(data) === 'bye') socket.close(4001, 'so long')
        else socket.send(isBinary ? data : `echo ${String(data)}`)
      })
    })
    const plane = await PlaneEnd.with(port)
    const stream = plane.open({ kind: 'websocket', headers: [['sec-websocket-protocol', 'chat, other']] })
    await stream.accepted
    expect(await stream.head).toEqual({ status: 101, headers: [['sec-websocket-protocol', 'chat']] })
    const records: SocketRecord[] = [
      { kind: 'text', text: 'hi' },
      { kind: 'binary', bytes: new Uint8Array(200_000).fill(7) },
      { kind: 'text', text: 'bye' },
    ]
    for (const record of records) await stream.write(encodeRecord(record) ?? new Uint8Array())
    const reader = new RecordReader()
    const got: SocketRecord[] = []
    for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) got.push(...reader.push(bytes))
    expect(got).toEqual([{ kind: 'text', text: 'echo hi' }, records[1], { kind: 'close', code: 4001, reason: 'so long' }])
  })

  test('[HOST-121] a frame that breaks the rules ends the tunnel and nothing else: the agent opens it again', async () => {
    const { port } = await serve((_, response) => response.end('fine'))
    const plane = await PlaneEnd.with(port)
    plane.socket?.send(new Uint8Array([99, 0, 0, 0, 0]))
    await waitUntil('another tunnel', () => plane.connections === 2)
    expect(String((await plane.ask()).body)).toBe('fine')
  })

  test('[HOST-123] a flood of one stream lets another through', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/flood') response.end(Buffer.alloc(8 * 2 ** 20))
      else response.end('quick')
    })
    const plane = await PlaneEnd.with(port)
    const floods = Array.from({ length: 20 }, () => plane.open({ path: '/flood' }))
    for (const flood of floods) await flood.head
    expect(String((await plane.ask()).body)).toBe('quick')
    for (const flood of floods) flood.reset({ code: 'cancelled', detail: 'enough' })
  })
})
