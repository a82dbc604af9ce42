import type { WorkerTransport } from '../../../host-protocol/messages.ts'
import { USE_HTTP } from '../../../host-protocol/worker-channel.ts'
import { backoffMs, sleep } from '../../../node/backoff.ts'
import { errorText } from '../../../node/fail.ts'
import type { Log } from '../../log.ts'
import type { RelayRoute } from '../routes.ts'
import { pingOf, pollFrameOf, postFrameOf } from './channel-calls.ts'
import type { PollAnswer } from './open-polls.ts'
import { ChannelRefused, WorkerChannel } from './worker-channel.ts'

/** Time until the next attempt after a plane that has no channels answered, in milliseconds. */
const UNKNOWN_TO_PLANE_MS = 600_000
/** Time after the last call of an endpoint's workers after which it is forgotten, with its pause. */
const FORGET_MS = UNKNOWN_TO_PLANE_MS
const RETRY_BASE_MS = 1_000
const RETRY_MAX_MS = 60_000
/** Answers of a plane that does not have the path. */
const NO_SUCH_PATH: ReadonlySet<number> = new Set([404, 405, 426])
const UNAUTHORIZED = 401

export interface ChannelsOptions {
  planeUrl: string
  /** Access tokens of this host. */
  tokens: { get(): Promise<string>; invalidate(token: string): void }
  log: Log
}

interface Endpoint {
  channel: WorkerChannel | undefined
  isConnecting: boolean
  failures: number
  retryAt: number
  calledAt: number
}

/**
 * The worker channels of a relay, one for each endpoint with workers on this host, opened by the calls of workers. Each method returns
 * undefined for a call that HTTP has to carry: there is no channel yet, the plane has none, or the call does not fit into a frame.
 */
export class WorkerChannels {
  private readonly options: ChannelsOptions
  private readonly endpoints = new Map<string, Endpoint>()
  /** Workers for which an answer with jobs came too late; their next take says so (LSE-30). */
  private readonly lost = new Set<string>()
  private isClosed = false

  constructor(options: ChannelsOptions) {
    this.options = options
  }

  /** The transport of each endpoint whose workers have called in the last minutes. */
  transports(): WorkerTransport[] {
    for (const [endpoint, { channel, isConnecting, calledAt }] of this.endpoints) {
      if (!channel?.isOpen && !isConnecting && performance.now() - calledAt > FORGET_MS) this.endpoints.delete(endpoint)
    }
    return [...this.endpoints].map(([endpoint, { channel }]) => ({ endpoint, transport: channel?.isOpen ? 'channel' : 'http' }))
  }

  /** Relays a take or stop poll and waits for its end. */
  async poll(route: RelayRoute, key: string | undefined, holdMs: number, gone: AbortSignal): Promise<PollAnswer | undefined> {
    const frame = pollFrameOf(route)
    const channel = frame && this.channelOf(route, key)
    if (!frame || !channel) return undefined
    const untilMs = performance.now() + holdMs
    const answer = await channel.poll(frame, holdMs, gone)
    if (answer.type !== 'nothing') return answer
    if (answer.status === USE_HTTP) return undefined
    await sleep(Math.min(answer.afterMs ?? 0, Math.max(0, untilMs - performance.now())), gone)
    return answer
  }

  /** Offers a post once; resolves with the status of the plane's answer. */
  async post(
    route: RelayRoute,
    headers: Record<string, string>,
    delivery: string,
    body: Buffer,
    timeoutMs: number,
  ): Promise<number | undefined> {
    const frame = postFrameOf(route, delivery, body)
    if (!frame) this.stir(route)
    const channel = frame && this.channelOf(route, headers.authorization)
    const status = frame && channel && (await channel.post(frame, timeoutMs))
    return status === USE_HTTP ? undefined : status
  }

  /** Sends a ping; false when HTTP has to carry it. */
  ping(route: RelayRoute, key: string | undefined): boolean {
    const ping = pingOf(route)
    const channel = ping && this.channelOf(route, key)
    if (!ping || !channel) return false
    channel.ping(ping)
    return true
  }

  /** Something has happened to a worker over HTTP: the plane gets its next pings. */
  stir({ endpoint, worker }: RelayRoute): void {
    this.endpoints.get(endpoint)?.channel?.stir(worker)
  }

  /** Ends all channels. */
  close(): void {
    this.isClosed = true
    for (const { channel } of this.endpoints.values()) channel?.cut()
  }

  /** The open channel of an endpoint; without one, begins to open it with the key of the worker that calls. */
  private channelOf({ endpoint, worker }: RelayRoute, key: string | undefined): WorkerChannel | undefined {
    const known = this.endpoints.get(endpoint) ?? { channel: undefined, isConnecting: false, failures: 0, retryAt: 0, calledAt: 0 }
    this.endpoints.set(endpoint, known)
    known.calledAt = performance.now()
    if (known.channel?.isOpen) return known.channel
    if (key !== undefined && !this.isClosed && !known.isConnecting && performance.now() >= known.retryAt)
      void this.connect(known, endpoint, worker, key)
    return undefined
  }

  private async connect(to: Endpoint, endpoint: string, worker: string, key: string): Promise<void> {
    const { planeUrl, tokens, log } = this.options
    to.isConnecting = true
    let token = ''
    try {
      token = await tokens.get()
      const channel = await WorkerChannel.open({ planeUrl, token, endpoint, worker, key, lost: this.lost })
      if (this.isClosed) return channel.cut()
      to.channel = channel
      to.failures = 0
      log.debug('opened a worker channel', { endpoint })
      void channel.ended.then(() => this.wait(to, 0))
    } catch (error) {
      const status = error instanceof ChannelRefused ? error.status : 0
      if (status === UNAUTHORIZED) tokens.invalidate(token)
      log.debug('no worker channel; calls of workers use HTTP', { endpoint, error: errorText(error) })
      this.wait(to, status)
    } finally {
      to.isConnecting = false
    }
  }

  private wait(to: Endpoint, status: number): void {
    to.channel = undefined
    const pauseMs = NO_SUCH_PATH.has(status) ? UNKNOWN_TO_PLANE_MS : backoffMs(to.failures, RETRY_BASE_MS, RETRY_MAX_MS)
    to.failures += 1
    to.retryAt = performance.now() + pauseMs
  }
}
