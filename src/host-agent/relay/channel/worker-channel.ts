import { WebSocket } from 'ws'
import {
  type AgentFrame,
  CHANNEL_KEY_HEADER,
  CHANNEL_WORKER_HEADER,
  channelPath,
  KEEP_ALIVE,
  KEEP_ALIVE_ANSWER,
  PlaneFrame,
  type PostCall,
} from '../../../host-protocol/worker-channel.ts'
import { AnswerParts } from './answer-parts.ts'
import type { PollFrame, Unnumbered, WorkerPing } from './channel-calls.ts'

const CONNECT_TIMEOUT_MS = 15_000
const MAX_MESSAGE_BYTES = 4 * 2 ** 20
/** Most characters of the answers whose parts are kept: a batch has 20 Mi and one input more, at most 20 MiB. HTTP carries a longer one. */
const MAX_ANSWER_CHARS = 64 * 2 ** 20
/** Most bytes that wait because the plane does not read them. */
const MAX_UNSENT_BYTES = 32 * 2 ** 20
/** Silence after which a keep-alive is sent, and after which the connection counts as dead. */
const KEEP_ALIVE_MS = 30_000
/** Time for the answer to a `leave`. */
const LEAVE_MS = 5_000
/** Pings of the workers of a host are gathered for this time, so that they are one frame. */
const PING_GATHER_MS = 1_000
/** A channel without open calls is closed after this time. */
const IDLE_MS = 120_000

/** The end of a take or stop poll; `broken`: the connection ended, and the answer may be lost with it. */
export type PollAnswer = Extract<PlaneFrame, { type: 'job' | 'stop' | 'nothing' }> | { type: 'broken' }

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
  /** The plane has given jobs to a worker that does not wait any more. */
  onLost(worker: string): void
}

interface OpenPoll {
  frame: PollFrame
  /** Undefined once the worker has gone. */
  answer: ((answer: PollAnswer) => void) | undefined
  /** Whether the plane was asked to end it. */
  isLeft: boolean
  /** Ends the hold, or the time for the answer to a `leave`. */
  timer: NodeJS.Timeout
}

/** One worker channel: a WebSocket to the object of an endpoint, with the open calls of the endpoint's workers on this host. */
export class WorkerChannel {
  private readonly socket: WebSocket
  private readonly onLost: (worker: string) => void
  private readonly polls = new Map<number, OpenPoll>()
  private readonly posts = new Map<number, (status: number | undefined) => void>()
  private readonly parts = new AnswerParts(MAX_ANSWER_CHARS)
  private pings: WorkerPing[] = []
  private pingTimer: NodeJS.Timeout | undefined
  private readonly aliveTimer: NodeJS.Timeout
  private heardAt = performance.now()
  private usedAt = performance.now()
  private last = 0
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>

  private constructor(socket: WebSocket, onLost: (worker: string) => void) {
    this.socket = socket
    this.onLost = onLost
    this.aliveTimer = setInterval(() => this.checkAlive(), KEEP_ALIVE_MS)
    socket.on('message', (data) => this.hear(String(data)))
    // `ws` answers pings by itself, whether or not the plane reads the answers.
    socket.on('ping', () => this.hasRoom())
    this.ended = new Promise((resolve) => socket.on('close', () => resolve(this.finish())))
  }

  /** Opens a channel; rejects with `ChannelRefused`. */
  static open({ planeUrl, token, endpoint, worker, key, onLost }: ChannelOptions): Promise<WorkerChannel> {
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
      socket.on('open', () => resolve(new WorkerChannel(socket, onLost)))
    })
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN
  }

  /** Sends a take or stop poll and waits for its end, at most `holdMs` and as long as the worker waits. */
  poll(frame: PollFrame, holdMs: number, gone: AbortSignal): Promise<PollAnswer> {
    const n = this.number()
    return new Promise((resolve) => {
      const answer = (final: PollAnswer) => {
        gone.removeEventListener('abort', drop)
        resolve(final)
      }
      const drop = () => {
        poll.answer = undefined
        this.parts.take(n)
        this.leave(n, poll)
        answer({ type: 'nothing', n })
      }
      const poll: OpenPoll = { frame, answer, isLeft: false, timer: setTimeout(() => this.leave(n, poll), holdMs) }
      gone.addEventListener('abort', drop, { once: true })
      this.polls.set(n, poll)
      this.send({ ...frame, n })
    })
  }

  // The answer may be under way: the call is open until the plane has confirmed that it is over, and with it the hold of the worker.
  private leave(n: number, poll: OpenPoll): void {
    if (poll.isLeft) return
    poll.isLeft = true
    clearTimeout(poll.timer)
    poll.timer = setTimeout(() => this.cut(), LEAVE_MS)
    this.send({ type: 'leave', n })
  }

  /** Sends a post; resolves with the status of the plane's answer, undefined when none came within `timeoutMs`. */
  post(frame: Unnumbered<PostCall>, timeoutMs: number): Promise<number | undefined> {
    const n = this.number()
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

  /** Sends a ping, with those of the other workers. */
  ping(ping: WorkerPing): void {
    this.usedAt = performance.now()
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
    else if (frame?.type === 'part') this.keepPart(frame)
    else if (frame?.type === 'ack') this.posts.get(frame.n)?.(frame.status)
    else if (frame) this.endPoll(frame)
  }

  // Only a take has a long answer. Without its worker, the end of the answer says enough.
  private keepPart({ n, text }: Extract<PlaneFrame, { type: 'part' }>): void {
    const poll = this.polls.get(n)
    if (poll?.frame.type === 'take' && poll.answer && !this.parts.keep(n, text)) this.cut()
  }

  private endPoll(frame: Exclude<PollAnswer, { type: 'broken' }>): void {
    const poll = this.polls.get(frame.n)
    if (!poll || !isAnswer(poll.frame, frame)) return
    this.polls.delete(frame.n)
    clearTimeout(poll.timer)
    const before = this.parts.take(frame.n)
    if (poll.answer) poll.answer(frame.type === 'job' ? { ...frame, text: before + frame.text } : frame)
    else if (frame.type === 'job') this.onLost(poll.frame.worker)
  }

  // The object was out of memory and knows no open call any more. It confirms that a call is left which it does not know.
  private repeat(): void {
    const waiting = [...this.polls].filter(([, { isLeft }]) => !isLeft)
    const takes = waiting.flatMap(([n, { frame }]) => (frame.type === 'take' ? [{ ...frame, n }] : []))
    const listens = waiting.flatMap(([n, { frame }]) => (frame.type === 'listen' ? [{ ...frame, n }] : []))
    this.send({ type: 'hello', takes, listens })
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
    clearTimeout(this.pingTimer)
    for (const [n, { answer, timer }] of this.polls) {
      clearTimeout(timer)
      this.parts.take(n)
      answer?.({ type: 'broken' })
    }
    for (const end of [...this.posts.values()]) end(undefined)
    this.polls.clear()
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

function isAnswer(to: PollFrame, { type }: Exclude<PollAnswer, { type: 'broken' }>): boolean {
  return type === 'nothing' || type === (to.type === 'take' ? 'job' : 'stop')
}

function parse(text: string): PlaneFrame | undefined {
  try {
    return PlaneFrame.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
