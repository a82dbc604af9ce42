import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { WebSocket, WebSocketServer } from 'ws'
import { AgentFrame, CHANNEL_KEY_HEADER, CHANNEL_WORKER_HEADER, type PlaneFrame } from '../../../src/host-protocol/worker-channel.ts'

const DELIVERY = 'podplane-delivery'
const AGAIN = 'podplane-take-again'

/** A post as the plane has applied it. */
interface Applied {
  verb: string
  job: string
  body: string
  over: 'channel' | 'http'
}

/** A plane with one job for one worker, over channels and HTTP. It applies each delivery once, and can cut the channel at any frame. */
export class ChannelPlane {
  /** Statuses with which the next requests for a channel are refused. */
  readonly refusals: number[] = []
  /** Jobs that no worker has. */
  jobs: string[] = []
  readonly applied: Applied[] = []
  readonly pings: string[][] = []
  /** Frames of the agents, oldest first. */
  readonly frames: AgentFrame[] = []
  /** Tokens, workers and keys of the requests for a channel. */
  readonly opened: { token: string | undefined; worker: unknown; key: unknown }[] = []
  readonly httpCalls: string[] = []
  /** Number of the frame, of both directions, at which the channel is cut instead; 0: never. */
  cutAt = 0
  passed = 0
  readonly sockets = new Set<WebSocket>()
  /** Connections of the channels, below their frames. */
  readonly streams = new Set<Duplex>()
  confirmsLeave = true
  /** Interval of pings with which a plane that takes standing pings welcomes an agent; null: it does not. */
  welcomesMs: number | null = null
  /** Status with which posts are acknowledged. */
  ackStatus = 200
  private readonly deliveries = new Set<string>()
  private handedOut: string[] = []
  private readonly takes = new Map<number, { socket: WebSocket; worker: string }>()
  private readonly server = createServer((request, response) => void this.handle(request, response).catch(() => response.destroy()))
  private readonly upgrades = new WebSocketServer({ noServer: true })

  async open(): Promise<string> {
    this.server.on('upgrade', (request, socket, head) => {
      const status = this.refusals.shift()
      const { authorization, [CHANNEL_WORKER_HEADER]: worker, [CHANNEL_KEY_HEADER]: key } = request.headers
      this.opened.push({ token: authorization, worker, key })
      if (status !== undefined) socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
      else this.upgrades.handleUpgrade(request, socket, head, (accepted) => this.accept(accepted, socket))
    })
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate()
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  /** Queues a job: an open take gets it at once. */
  submit(job: string): void {
    this.jobs.push(job)
    for (const [n, { socket }] of this.takes) this.handOut(n, socket)
  }

  /** Sends a frame over every channel. */
  say(frame: PlaneFrame): void {
    for (const socket of this.sockets) this.send(socket, frame)
  }

  /** Sends a message over every channel, whether or not it is a frame. */
  sayRaw(message: string | Uint8Array): void {
    for (const socket of this.sockets) socket.send(message)
  }

  /** Forgets the open calls, as an object does that leaves memory, and asks for them. */
  wake(): void {
    this.takes.clear()
    this.say({ type: 'sync' })
  }

  private accept(socket: WebSocket, stream: Duplex): void {
    this.sockets.add(socket)
    this.streams.add(stream)
    if (this.welcomesMs !== null) this.send(socket, { type: 'welcome', pingIntervalMs: this.welcomesMs })
    socket.on('close', () => {
      this.streams.delete(stream)
      this.sockets.delete(socket)
      for (const [n, take] of this.takes) if (take.socket === socket) this.takes.delete(n)
    })
    socket.on('error', () => {})
    socket.on('message', (data) => {
      if (String(data) === 'ping') return socket.send('pong')
      if (!this.isCut(socket)) this.hear(socket, AgentFrame.parse(JSON.parse(String(data))))
    })
  }

  private isCut(socket: WebSocket): boolean {
    if (socket.readyState !== WebSocket.OPEN) return true
    this.passed += 1
    if (this.passed !== this.cutAt) return false
    socket.terminate()
    return true
  }

  private send(socket: WebSocket, frame: PlaneFrame): void {
    if (!this.isCut(socket)) socket.send(JSON.stringify(frame))
  }

  private hear(socket: WebSocket, frame: AgentFrame): void {
    this.frames.push(frame)
    if (frame.type === 'hello') for (const call of frame.takes) this.park(socket, call)
    if (frame.type === 'take') this.park(socket, frame)
    if (frame.type === 'leave') this.takes.delete(frame.n)
    if (frame.type === 'leave' && this.confirmsLeave) this.send(socket, { type: 'nothing', n: frame.n })
    if (frame.type === 'pings') this.pings.push(...frame.pings.map(({ worker, jobs }) => [worker, ...jobs]))
    if (frame.type !== 'post') return
    this.apply(frame.delivery, { verb: frame.verb, job: frame.job, body: frame.body, over: 'channel' })
    this.send(socket, { type: 'ack', n: frame.n, status: this.ackStatus })
  }

  private park(socket: WebSocket, { n, worker, again }: { n: number; worker: string; again: boolean }): void {
    if (again) this.requeue()
    this.takes.set(n, { socket, worker })
    this.handOut(n, socket)
  }

  private handOut(n: number, socket: WebSocket): void {
    const job = this.jobs.shift()
    if (job === undefined) return
    this.takes.delete(n)
    this.handedOut.push(job)
    this.send(socket, { type: 'job', n, text: JSON.stringify({ id: job }) })
  }

  // LSE-30: an answer with these jobs has reached no worker.
  private requeue(): void {
    this.jobs.unshift(...this.handedOut.splice(0))
  }

  private apply(delivery: string, post: Applied): void {
    if (this.deliveries.has(delivery)) return
    this.deliveries.add(delivery)
    this.applied.push(post)
    this.handedOut = this.handedOut.filter((job) => job !== post.job)
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, , , verb = '', , job = ''] = new URL(request.url ?? '/', 'http://plane').pathname.split('/')
    this.httpCalls.push(verb)
    if (verb === 'job-take') {
      if (request.headers[AGAIN] !== undefined) this.requeue()
      const next = this.jobs.shift()
      if (next === undefined) return void response.writeHead(204).end()
      this.handedOut.push(next)
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: next }))
    }
    if (request.method === 'POST') this.apply(String(request.headers[DELIVERY]), { verb, job, body: await text(request), over: 'http' })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }
}
