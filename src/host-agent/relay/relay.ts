import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DELIVERY_HEADER } from '../../host-protocol/delivery.ts'
import type { WorkerTransport, Workload } from '../../host-protocol/messages.ts'
import { errorText, hasCode } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { Admission } from './admission/admission.ts'
import type { RelayCallers } from './admission/callers.ts'
import { boundConnections } from './admission/connections.ts'
import { RELAY_BOUNDS, type RelayBounds } from './bounds.ts'
import type { PollAnswer } from './channel/open-polls.ts'
import { type ChannelsOptions, WorkerChannels } from './channel/worker-channels.ts'
import type { LaneContext } from './lane.ts'
import { RelayMemory } from './memory.ts'
import { answerPost, offerPost, type PostAnswer } from './offer-post.ts'
import { PingRelay } from './ping.ts'
import { relayPoll } from './poll.ts'
import { PostQueue } from './post-queue.ts'
import type { Post } from './post-spool.ts'
import { isReport, isTake, parseRelayRoute, type RelayRoute, withRetainedJobs } from './routes.ts'
import { createUpstream, pickHeaders, shareUpstream, type Upstream } from './upstream.ts'

const RETRY_AFTER_SECONDS = 5
const OK = 200
const NO_CONTENT = 204
const TOO_MANY = 429
const JSON_HEADERS = { 'content-type': 'application/json' }

export interface RelayOptions {
  planeUrl: string
  /** Address to listen on: loopback for processes, the container bridge for Docker. Never all interfaces. */
  address: string
  /** Preferred port, so that running workloads reach a restarted agent; if it is in use, a free one is chosen. */
  port?: number | undefined
  /** Directory for posts that the plane has not taken yet. */
  spoolDir: string
  /** The workloads that are served. */
  callers: RelayCallers
  bounds?: Partial<RelayBounds>
  log: Log
  /** Access tokens of this host: calls of workers use worker channels (CHN-20). Absent: they use HTTP. */
  tokens?: ChannelsOptions['tokens'] | undefined
  /** Called just before the answer with one or more jobs is sent to a worker. */
  onTaken?(workerId: string): void
}

/** A running relay and the address that workers call. */
export interface Relay {
  address: string
  port: number
  /** Receives the desired workloads of this host, with their keys. */
  update(workloads: readonly Workload[]): void
  /** How the calls of workers reach the plane, by endpoint. */
  transports(): WorkerTransport[]
  /** Waits, for a limited time, until the plane has all posts of these workers; undefined when there are none. */
  delivered(workerIds: ReadonlySet<string>): Promise<void> | undefined
  close(): Promise<void>
}

/** Starts the server that workloads use in place of the plane. It serves the worker routes only. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const bounds = { ...RELAY_BOUNDS, ...options.bounds }
  const { callers, log } = options
  const countCallers = () => callers.count
  const shared = shareUpstream(createUpstream(options.planeUrl), bounds, countCallers)
  const upstream: Upstream = noticeAnswers(shared, () => posts.planeAnswered())
  const closing = new AbortController()
  const admission = new Admission({ callers, bounds, closing: closing.signal })
  const channels = options.tokens && new WorkerChannels({ planeUrl: options.planeUrl, tokens: options.tokens, log })
  const offer: LaneContext['offer'] = async (caller, post, signal) =>
    (channels && (await offerOverChannel(channels, post, bounds.postIdleMs))) ??
    offerPost(upstream, caller, post, bounds.postIdleMs, signal)
  const posts = new PostQueue({ offer, bounds, log, spoolDir: options.spoolDir, countCallers })
  const overChannel = (target: string, headers: Record<string, string>) => {
    const route = parseRelayRoute('GET', target)
    return channels !== undefined && route !== undefined && channels.ping(route, headers.authorization)
  }
  const pings = new PingRelay({ overChannel, upstream, bounds, closing: closing.signal })
  const memory = new RelayMemory(bounds.bufferMaxBytes, countCallers)

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      log.debug('relay request ended early', { error: errorText(error) })
      response.destroy()
    })
  })
  // Long polls are idle most of the time. Node's own request timeout limits slow senders and stays.
  server.keepAliveTimeout = 120_000
  boundConnections(server, callers, bounds)

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const caller = await admission.admit(request, response)
    if (caller === undefined) return
    const route = parseRelayRoute(request.method, request.url)
    if (route === undefined) return answerJson(response, 404, { error: 'the relay serves worker routes only' })
    if (route.worker !== caller) return await admission.refuse(response)
    if (route.treatment === 'post' || isReport(route)) return await handlePost(caller, route, request, response)
    const headers = pickHeaders(request.headers)
    const target = () => withRetainedJobs(route, posts.keptJobs(route, headers))
    if (route.treatment === 'poll') {
      const signal = AbortSignal.any([whenGone(response), closing.signal])
      const current = () => ({ method: route.method, target: target() })
      const onAnswer = (status: number) => {
        if (isTake(route) && status === 200) options.onTaken?.(route.worker)
        if (status === 200) channels?.stir(route)
      }
      const first = await channels?.poll({ ...route, target: target() }, headers.authorization, bounds.pollHoldMs, signal)
      if (first !== undefined && first.type !== 'broken') return answerPoll(first, response, onAnswer)
      const again = first?.type === 'broken'
      return await relayPoll(upstream, bounds, { caller, again, route: current, headers, onAnswer }, response, signal)
    }
    await pings.relay(caller, target, headers)
    answerJson(response, 200, {})
  }

  async function handlePost(caller: string, route: RelayRoute, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const held = await memory.read(caller, request, bounds.bodyMaxBytes)
    // Workers retry after a 503, and the buffer may have space by then.
    if (held === undefined) return answerJson(response, 503, { error: 'the result does not fit into the relay buffer' })
    const outcome = await posts.submit(route, pickHeaders(request.headers), held)
    if (outcome === 'kept') return answerJson(response, 200, {})
    if (outcome === 'full')
      return answerJson(response, 503, { error: 'the plane is unavailable, and there is no space to store the result' })
    answerPost(response, outcome)
  }

  const port = await listen(server, options)
  return {
    address: options.address,
    port,
    update: (workloads) => callers.update(workloads),
    transports: () => channels?.transports() ?? [],
    delivered: (workerIds) => posts.delivered(workerIds),
    close: async () => {
      closing.abort()
      channels?.close()
      await posts.close()
      // Workers whose posts have just been stored on disk must still get their answer.
      await new Promise((resolve) => setImmediate(resolve))
      upstream.close()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function offerOverChannel(channels: WorkerChannels, post: Post, timeoutMs: number): Promise<PostAnswer | undefined> {
  const route = parseRelayRoute(post.method, post.target)
  const status = route && (await channels.post(route, post.headers, post.headers[DELIVERY_HEADER] ?? '', post.body, timeoutMs))
  return status === undefined ? undefined : { status, headers: JSON_HEADERS, text: Buffer.from('{}') }
}

function answerPoll(answer: Exclude<PollAnswer, { type: 'broken' }>, response: ServerResponse, onAnswer: (status: number) => void): void {
  if (response.destroyed) return
  if (answer.type === 'nothing') {
    onAnswer(answer.status ?? NO_CONTENT)
    // 429 is the only answer that makes a stock worker wait before it polls again.
    if (answer.status === undefined) response.writeHead(NO_CONTENT).end()
    else
      answerJson(response.setHeader('retry-after', RETRY_AFTER_SECONDS), TOO_MANY, { error: answer.detail ?? 'the plane refused the poll' })
    return
  }
  onAnswer(OK)
  response.writeHead(OK, JSON_HEADERS).end(answer.type === 'job' ? answer.text : JSON.stringify({ jobsToStop: answer.jobs }))
}

// Any answer below 500 shows that the plane can be reached, so that waiting posts may be retried.
function noticeAnswers(upstream: Upstream, notice: () => void): Upstream {
  return {
    ...upstream,
    async send(request) {
      const reply = await upstream.send(request)
      if ((reply.statusCode ?? 500) < 500) notice()
      return reply
    },
  }
}

/** Returns a signal that aborts when the worker disconnects before the answer is complete. */
function whenGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.on('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}

async function listen(server: ReturnType<typeof createServer>, { address, port, log }: RelayOptions): Promise<number> {
  const attempt = (candidate: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      server.listen(candidate, address, () => {
        server.off('error', reject)
        resolve((server.address() as AddressInfo).port)
      })
    })
  if (port === undefined) return await attempt(0)
  try {
    return await attempt(port)
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE') && !hasCode(error, 'EACCES')) throw error
    log.warn('the previous relay port is in use; workloads that were started with it cannot reach the plane', { address, port })
    return await attempt(0)
  }
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return
  // An unread body would be parsed as the next request on this connection.
  if (status === 503) response.setHeader('connection', 'close').setHeader('retry-after', RETRY_AFTER_SECONDS)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
