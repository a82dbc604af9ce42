import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorText, hasCode } from './fail.ts'
import type { Log } from './log.ts'
import { RELAY_BOUNDS, type RelayBounds } from './relay-bounds.ts'
import { RelayMemory } from './relay-memory.ts'
import { relayPoll } from './relay-poll.ts'
import { answerPost, deliverPost } from './relay-post.ts'
import { parseRelayRoute, type RelayRoute } from './relay-routes.ts'
import { createUpstream, pickHeaders } from './relay-upstream.ts'
import { ResultSpool } from './result-spool.ts'

const RETRY_AFTER_SECONDS = 5

export interface RelayOptions {
  planeUrl: string
  /** Address to listen on: loopback for processes, the container bridge for Docker. Never every interface. */
  address: string
  /** Preferred port, so that running workloads reach a restarted agent; another is taken when it is in use. */
  port?: number | undefined
  /** Where results are kept that the plane has not taken yet. */
  spoolDir?: string
  bounds?: Partial<RelayBounds>
  log: Log
}

export interface Relay {
  address: string
  port: number
  close(): Promise<void>
}

/** Starts the server that workloads speak to in place of the plane. It knows the worker routes and nothing else. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const bounds = { ...RELAY_BOUNDS, ...options.bounds }
  const upstream = createUpstream(options.planeUrl)
  const closing = new AbortController()
  const spool = options.spoolDir === undefined ? undefined : new ResultSpool(options.spoolDir)
  const delivery = { upstream, bounds, spool, closing: closing.signal }
  const memory = new RelayMemory(bounds.bufferMaxBytes)

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      options.log.debug('relay request ended early', { error: errorText(error) })
      response.destroy()
    })
  })
  // Long polls are idle by nature; Node's own request timeout is about slow senders and stays.
  server.keepAliveTimeout = 120_000

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = parseRelayRoute(request.method, request.url)
    if (route === undefined) return answerJson(response, 404, { error: 'the relay serves worker routes only' })
    const gone = new AbortController()
    response.on('close', () => {
      if (!response.writableFinished) gone.abort()
    })
    if (route.treatment === 'post') return await handlePost(route, request, response)
    const headers = pickHeaders(request.headers)
    const signal = AbortSignal.any([gone.signal, closing.signal])
    if (route.treatment === 'poll') return await relayPoll(upstream, bounds, route, headers, response, signal)
    const timed = AbortSignal.any([signal, AbortSignal.timeout(bounds.pingTimeoutMs)])
    await upstream.send({ ...route, headers, signal: timed }).then(
      (reply) => reply.resume(),
      () => undefined,
    )
    // A worker can do nothing about a plane that is away, so a ping always succeeds.
    answerJson(response, 200, {})
  }

  async function handlePost(route: RelayRoute, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const held = await memory.read(request, bounds.bodyMaxBytes)
    // 503 is tried again by workers, and by then the buffer may have room.
    if (held === undefined) return answerJson(response, 503, { error: 'the result does not fit into the relay buffer' })
    try {
      const result = { target: route.target, headers: pickHeaders(request.headers), body: held.body }
      answerPost(response, await deliverPost(delivery, result))
    } finally {
      held.release()
    }
  }

  const port = await listen(server, options)
  for (const { result, remove } of spool?.takeOver() ?? []) {
    options.log.info('delivers a result of a former agent process', { path: result.target.replace(/\?.*/, '') })
    void deliverPost(delivery, result, remove)
  }
  return {
    address: options.address,
    port,
    close: () => {
      closing.abort()
      upstream.close()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
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
    log.warn('the former relay port is in use; workloads that were started with it cannot reach the plane', { address, port })
    return await attempt(0)
  }
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return
  // A body that was not read would be taken for the next request on this connection.
  if (status === 503) response.setHeader('connection', 'close').setHeader('retry-after', RETRY_AFTER_SECONDS)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
