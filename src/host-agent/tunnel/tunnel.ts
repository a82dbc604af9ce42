import { WebSocket } from 'ws'
import {
  type ExecTarget,
  MAX_FRAME_BYTES,
  type OpenTarget,
  type TcpTarget,
  TUNNEL_ABILITIES,
  TUNNEL_ABILITIES_HEADER,
  TUNNEL_PATH,
  TUNNEL_PING,
  TUNNEL_PING_INTERVAL_MS,
  TUNNEL_SILENCE_MS,
} from '../../host-protocol/tunnel/frames.ts'
import type { TunnelStream } from '../../host-protocol/tunnel/stream.ts'
import { TunnelEnd } from '../../host-protocol/tunnel/tunnel-end.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import type { AccessTokens } from '../plane/access-tokens.ts'
import { planeUrl } from '../plane/http.ts'
import { ExecRefused, type ExecRequest, type ExecSession, type Place } from '../runtime.ts'
import { serveChannels } from './channel-session.ts'
import { serveHttp } from './http-request.ts'
import { serveSocket } from './socket-request.ts'
import { openTcp } from './tcp-session.ts'
import { Turns } from './turns.ts'

const RECONNECT_BASE_MS = 250
const RECONNECT_MAX_MS = 10_000
const CONNECT_TIMEOUT_MS = 15_000
const GONE = { code: 'unreachable', detail: 'it does not run on its host' } as const

export interface TunnelDeps {
  planeUrl: string
  tokens: Pick<AccessTokens, 'get' | 'invalidate'>
  log: Log
  /** Returns the address of a port of a workload that the plane may reach; undefined: there is no such workload. */
  place(workloadId: string, port: number): Promise<Place | undefined>
  /** Returns the account of a workload; undefined: unknown. */
  accountOf(workloadId: string): string | undefined
  /** Starts a command in a pod of this host; undefined: there is no such pod. */
  exec(workloadId: string, request: ExecRequest): Promise<ExecSession> | undefined
}

/**
 * The WebSocket over which the plane reaches the workloads of this host. The agent opens it once there is a reachable workload, and again
 * whenever it ends.
 */
export class Tunnel {
  private readonly deps: TunnelDeps
  private readonly closing = new AbortController()
  private socket: WebSocket | undefined
  private end: TunnelEnd | undefined
  private running = false

  constructor(deps: TunnelDeps) {
    this.deps = deps
  }

  /** Connects, because a workload is reachable; repeated calls have no effect. */
  open(): void {
    if (this.running || this.closing.signal.aborted) return
    this.running = true
    void this.run()
  }

  close(): void {
    this.closing.abort()
    this.socket?.close(1000, 'agent stops')
  }

  /** Returns the number of the plane's requests in progress to a workload. */
  streamsOf(workloadId: string): number {
    return this.end?.streamsOf(workloadId) ?? 0
  }

  private async run(): Promise<void> {
    const { log, tokens } = this.deps
    for (let failures = 0; !this.closing.signal.aborted; failures += 1) {
      try {
        if (await this.connect(await tokens.get())) failures = 0
      } catch (error) {
        log.debug('the tunnel to the plane could not be opened', { error: errorText(error) })
      }
      await sleep(backoffMs(failures, RECONNECT_BASE_MS, RECONNECT_MAX_MS), this.closing.signal)
    }
  }

  /** Resolves when the connection has ended: true if it was opened. */
  private connect(token: string): Promise<boolean> {
    const { deps } = this
    const socket = new WebSocket(planeUrl(deps.planeUrl, TUNNEL_PATH).replace(/^http/, 'ws'), {
      headers: { authorization: `Bearer ${token}`, [TUNNEL_ABILITIES_HEADER]: TUNNEL_ABILITIES.join(',') },
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
    })
    this.socket = socket
    socket.binaryType = 'nodebuffer'
    const turns = new Turns(() => socket.bufferedAmount)
    const end = new TunnelEnd({
      send: (message) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(message, () => turns.drained())
      },
      turn: () => turns.take(),
      accountOf: (workloadId) => deps.accountOf(workloadId),
      onOpen: (stream, target) => void this.serve(stream, target),
    })
    this.end = end
    let heardAt = performance.now()
    let timer: NodeJS.Timeout | undefined
    return new Promise((resolve) => {
      let opened = false
      socket.on('open', () => {
        opened = true
        heardAt = performance.now()
        deps.log.info('tunnel to the plane is open')
        timer = setInterval(() => {
          if (performance.now() - heardAt > TUNNEL_SILENCE_MS) socket.terminate()
          else socket.send(TUNNEL_PING)
        }, TUNNEL_PING_INTERVAL_MS)
        socket.send(TUNNEL_PING)
      })
      socket.on('message', (data, isBinary) => {
        heardAt = performance.now()
        if (isBinary) this.receive(end, socket, data as Buffer)
      })
      socket.on('unexpected-response', (_request, response) => {
        if (response.statusCode === 401) deps.tokens.invalidate(token)
        socket.terminate()
      })
      socket.on('error', (error) => deps.log.debug('the tunnel to the plane failed', { error: errorText(error) }))
      socket.on('close', () => {
        clearInterval(timer)
        end.fail('the connection between plane and host ended')
        turns.close()
        resolve(opened)
      })
    })
  }

  private receive(end: TunnelEnd, socket: WebSocket, message: Buffer): void {
    try {
      end.receive(message)
    } catch (error) {
      // Only this connection ends; the next one has no state of it.
      this.deps.log.warn('the plane violated the tunnel protocol; the tunnel is reopened', { error: errorText(error) })
      socket.terminate()
    }
  }

  /** Serves a stream of the plane, which names a workload and a port; only this host determines the address (HOST-125). */
  private async serve(stream: TunnelStream, target: OpenTarget): Promise<void> {
    try {
      if (target.kind === 'exec') return await this.serveExec(stream, target)
      const place = await this.deps.place(target.workloadId, target.port)
      if (target.kind === 'tcp') return await this.serveTcp(stream, target, place)
      if (place === undefined) stream.reset(GONE)
      else if (target.kind === 'http') serveHttp(stream, target, place)
      else serveSocket(stream, target, place)
    } catch (error) {
      this.deps.log.warn('a request of the plane failed', { workload: target.workloadId, error: errorText(error) })
      stream.reset({ code: 'unreachable', detail: 'the host of the worker could not serve the request' })
    }
  }

  private async serveExec(stream: TunnelStream, { workloadId, command, terminal, flow }: ExecTarget): Promise<void> {
    const session = this.deps.exec(workloadId, { command, terminal })
    if (session === undefined) stream.reset(GONE)
    else await serveChannels(stream, () => session, flow)
  }

  private async serveTcp(stream: TunnelStream, { workloadId, port, flow }: TcpTarget, place: Place | undefined): Promise<void> {
    const run = (command: readonly string[]) =>
      this.deps.exec(workloadId, { command, terminal: null }) ?? Promise.reject(new ExecRefused(GONE.detail))
    await serveChannels(stream, () => openTcp({ place, port, run }), flow)
  }
}
