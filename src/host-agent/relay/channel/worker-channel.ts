import { WebSocket } from 'ws'
import {
  type AgentFrame,
  CHANNEL_KEY_HEADER,
  CHANNEL_WORKER_HEADER,
  channelPath,
  KEEP_ALIVE,
  KEEP_ALIVE_ANSWER,
  MAX_WORKERS,
  PlaneFrame,
  type PostCall,
} from '../../../host-protocol/worker-channel.ts'
import type { PollFrame, Unnumbered, WorkerPing } from './channel-calls.ts'
import { OpenPolls, type PollAnswer } from './open-polls.ts'
import { StandingPings } from './standing-pings.ts'

const CONNECT_TIMEOUT_MS = 15_000
const MAX_MESSAGE_BYTES = 4 * 2 ** 20
/** Most bytes that wait because the plane does not read them. */
const MAX_UNSENT_BYTES = 32 * 2 ** 20
/** Silence after which a keep-alive is sent, and after which the connection counts as dead. */
const KEEP_ALIVE_MS = 30_000
/** Pings of the workers of a host are gathered for this time, so that they are one frame. */
const PING_GATHER_MS = 1_000
/** A channel without open calls is closed after this time. */
const IDLE_MS = 120_000

/** The plane refused a channel; `status` is that of its answer, 0 without one. */
export class ChannelRefused extends Error {
  override readonly name = 'ChannelRefused'
  readonly status: number

  constructor(status: number, reason: string) {
    super(reason)
    this.status = status
  }
}

export interface ChannelOptions {
  planeUrl: string
  token: string
  endpoint: string
  /** A worker of the endpoint on this host, and its key. */
  worker: string
  key: string
  /** Workers that an answer with jobs has not reached; their next take says so (LSE-30). It outlives the channel. */
  lost: Set<string>
}

/** One worker channel: a WebSocket to the object of an endpoint, with the open calls of the endpoint's workers on this host. */
export class WorkerChannel {
  private readonly socket: WebSocket
  private readonly polls: OpenPolls
  private readonly posts = new Map<number, (status: number | undefined) => void>()
  private pings: WorkerPing[] = []
  private pingTimer: NodeJS.Timeout | undefined
  private readonly aliveTimer: NodeJS.Timeout
  private quietTimer: NodeJS.Timeout | undefined
  /** Undefined at a plane that wants each ping. */
  private standing: StandingPings | undefined
  private heardAt = performance.now()
  private usedAt = performance.now()
  private last = 0
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>

  private constructor(socket: WebSocket, lost: Set<string>) {
    this.socket = socket
    this.polls = new OpenPolls({
      number: () => this.number(),
      send: (frame) => this.send(frame),
      cut: () => this.cut(),
      answered: (worker) => this.stir(worker),
      lost: (worker) => lost.add(worker),
      hasLost: (worker) => lost.has(worker),
      takeLost: (worker) => lost.delete(worker),
      staysOpen: () => this.standing !== undefined,
    })
    this.aliveTimer = setInterval(() => this.checkAlive(), KEEP_ALIVE_MS)
    socket.on('message', (data) => this.hear(String(data)))
    // `ws` answers pings by itself, whether or not the plane reads the answers.
    socket.on('ping', () => this.hasRoom())
    this.ended = new Promise((resolve) => socket.on('close', () => resolve(this.finish())))
  }

  /** Opens a channel; rejects with `ChannelRefused`. */
  static open({ planeUrl, token, endpoint, worker, key, lost }: ChannelOptions): Promise<WorkerChannel> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(planeUrl.replace(/\/+$/, '').replace(/^http/, 'ws') + channelPath(endpoint), {
        headers: { authorization: `Bearer ${token}`, [CHANNEL_WORKER_HEADER]: worker, [CHANNEL_KEY_HEADER]: key },
        handshakeTimeout: CONNECT_TIMEOUT_MS,
        maxPayload: MAX_MESSAGE_BYTES,
        perMessageDeflate: false,
      })
      socket.on('error', (error) => reject(new ChannelRefused(0, error.message)))
      socket.on('unexpected-response', (_request, response) => {
        reject(new ChannelRefused(response.statusCode ?? 0, `the plane answered ${response.statusCode}`))
        socket.terminate()
      })
      socket.on('open', () => resolve(new WorkerChannel(socket, lost)))
    })
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN
  }

  /** Sends a take or stop poll and waits for its end, at most `holdMs` and as long as the worker waits. */
  poll(frame: PollFrame, holdMs: number, gone: AbortSignal): Promise<PollAnswer> {
    return this.polls.poll(frame, holdMs, gone)
  }

  /** Sends a post; resolves with the status of the plane's answer, undefined when none came within `timeoutMs`. */
  post(frame: Unnumbered<PostCall>, timeoutMs: number): Promise<number | undefined> {
    const n = this.number()
    this.stir(frame.worker)
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(undefined), timeoutMs)
      const end = (status: number | undefined) => {
        clearTimeout(timer)
        this.posts.delete(n)
        resolve(status)
      }
      this.posts.set(n, end)
      this.send({ ...frame, n })
    })
  }

  /** Something has happened to a worker: the plane gets its next pings. */
  stir(worker: string): void {
    this.standing?.stir(worker)
  }

  /** Sends a ping, with those of the other workers, unless the plane counts on it. */
  ping(offered: WorkerPing): void {
    this.usedAt = performance.now()
    const ping = this.standing ? this.standing.take(offered, this.usedAt) : offered
    if (!ping) return
    this.pings = [...this.pings.filter(({ worker }) => worker !== ping.worker), ping]
    this.pingTimer ??= setTimeout(() => {
      this.pingTimer = undefined
      this.send({ type: 'pings', pings: this.pings.splice(0) })
    }, PING_GATHER_MS)
  }

  /** Ends the connection at once, without its closing handshake. */
  cut(): void {
    this.socket.terminate()
  }

  private hear(text: string): void {
    // Frames that were read before the channel was cut.
    if (!this.isOpen) return
    this.heardAt = performance.now()
    if (text === KEEP_ALIVE_ANSWER) return
    const frame = parse(text)
    // Undefined: a frame of a newer plane, which this agent has said nothing to require.
    if (frame?.type === 'sync') this.repeat()
    else if (frame?.type === 'welcome') this.stand(frame.pingIntervalMs)
    else if (frame?.type === 'recall') for (const worker of frame.workers) this.stir(worker)
    else if (frame?.type === 'part') this.polls.keepPart(frame)
    else if (frame?.type === 'ack') this.posts.get(frame.n)?.(frame.status)
    else if (frame) this.polls.end(frame)
  }

  // The object was out of memory and knows no open call any more. It confirms that a call is left which it does not know.
  private repeat(): void {
    const { takes, listens } = this.polls.waiting()
    const standing = this.standing?.standing() ?? []
    // More than a frame names: they go on over HTTP.
    if (Math.max(takes.length, listens.length, standing.length) > MAX_WORKERS) this.cut()
    else this.send({ type: 'hello', takes, listens, ...(standing.length > 0 ? { standing } : {}) })
  }

  private stand(pingIntervalMs: number): void {
    this.standing ??= new StandingPings(pingIntervalMs)
    clearInterval(this.quietTimer)
    this.quietTimer = setInterval(() => this.withdraw(), pingIntervalMs)
  }

  private withdraw(): void {
    const workers = this.standing?.takeQuiet(performance.now()) ?? []
    for (let at = 0; at < workers.length; at += MAX_WORKERS) this.send({ type: 'quiet', workers: workers.slice(at, at + MAX_WORKERS) })
  }

  private checkAlive(): void {
    const silentMs = performance.now() - this.heardAt
    const isUnused = this.polls.size === 0 && this.posts.size === 0 && performance.now() - this.usedAt > IDLE_MS
    if (silentMs > 2 * KEEP_ALIVE_MS) this.cut()
    else if (isUnused) this.socket.close(1000, 'no call is open')
    else if (silentMs >= KEEP_ALIVE_MS) this.sendText(KEEP_ALIVE)
  }

  private finish(): void {
    clearInterval(this.aliveTimer)
    clearInterval(this.quietTimer)
    clearTimeout(this.pingTimer)
    this.polls.break()
    for (const end of [...this.posts.values()]) end(undefined)
  }

  private number(): number {
    this.last += 1
    this.usedAt = performance.now()
    return this.last
  }

  private send(frame: AgentFrame): void {
    this.sendText(JSON.stringify(frame))
  }

  private sendText(text: string): void {
    if (this.isOpen && this.hasRoom()) this.socket.send(text)
  }

  /** Cuts the channel when the plane reads nothing. */
  private hasRoom(): boolean {
    const isRead = this.socket.bufferedAmount <= MAX_UNSENT_BYTES
    if (!isRead) this.cut()
    return isRead
  }
}

function parse(text: string): PlaneFrame | undefined {
  try {
    return PlaneFrame.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
