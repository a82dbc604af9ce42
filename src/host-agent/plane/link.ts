import { randomUUID } from 'node:crypto'
import { WebSocket } from 'ws'
import {
  AGENT_PROCESS_HEADER,
  type AgentMessage,
  BEAT_INTERVAL_MS,
  MESSAGE_MAX_BYTES,
  PlaneMessage,
  type Workload,
} from '../../host-protocol/messages.ts'
import type { Overlay } from '../../host-protocol/overlays.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import { parseJson } from '../../node/json-file.ts'
import { IdentityRefused } from './access-tokens.ts'
import { DesiredParts } from './desired-parts.ts'
import { planeUrl } from './http.ts'
import type { SenderDeps } from './senders.ts'

export interface LinkDeps extends Omit<SenderDeps, 'clock'> {
  hello(): Extract<AgentMessage, { type: 'hello' }>
  /** Returns the state for a beat. `first`: the first beat of a link, which must contain what later ones omit. */
  beat(first: boolean): Pick<Extract<AgentMessage, { type: 'beat' }>, 'workloads' | 'stats' | 'machine' | 'gpuHealth' | 'transports'>
  /** `silenceMaxMs`: the longest time that the plane lets a job wait for this host. */
  onDesired(workloads: Workload[], silenceMaxMs: number, overlays: Overlay[]): void
  /** A beat was acknowledged: the host's lease is renewed from the time at which that beat was sent, by the monotonic clock. */
  onLease(sentAtMonotonicMs: number): void
  onRevoked(reason: string): void
}

const ACK_TIMEOUT_MS = 15_000
const RECONNECT_BASE_MS = 250
const RECONNECT_MAX_MS = 10_000
const CONNECT_TIMEOUT_MS = 15_000
const BEAT_JITTER = 0.2
const FIRST_BEAT = 1

/** The WebSocket to the plane: connects, sends beats and reconnects for as long as the agent runs. */
export class Link {
  private readonly deps: LinkDeps
  private readonly closing = new AbortController()
  private readonly process = randomUUID()
  private socket: WebSocket | undefined
  /** Revision of the newest desired state applied in this epoch; an older one that arrives late is ignored. */
  private revision = 0

  constructor(deps: LinkDeps) {
    this.deps = deps
  }

  /** Runs until closed. Throws only when the plane refuses this host's identity. */
  async run(): Promise<void> {
    for (let failures = 0; !this.closing.signal.aborted; failures += 1) {
      const connected = await this.runOnce()
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- it changes while it is waited for
      if (this.closing.signal.aborted) return
      if (connected.acknowledged) failures = 0
      const waitMs = backoffMs(failures, RECONNECT_BASE_MS, RECONNECT_MAX_MS)
      const text = `lost the connection to the plane at ${this.deps.planeUrl} (${connected.reason}); trying again in ${(waitMs / 1000).toFixed(1)} s`
      this.deps.log.warn(text)
      await sleep(waitMs, this.closing.signal)
    }
  }

  /** Sends a new hello, after something that it contains has changed. */
  sayHello(): void {
    if (this.socket !== undefined) send(this.socket, this.deps.hello())
  }

  close(): void {
    this.closing.abort()
    this.socket?.close(1000, 'agent stops')
  }

  private async runOnce(): Promise<{ acknowledged: boolean; reason: string }> {
    let token: string
    try {
      token = await this.deps.tokens.get()
    } catch (error) {
      if (error instanceof IdentityRefused) throw error
      return { acknowledged: false, reason: errorText(error) }
    }
    return await new Promise((resolve) => this.open(token, resolve))
  }

  private open(token: string, done: (result: { acknowledged: boolean; reason: string }) => void): void {
    const socket = new WebSocket(planeUrl(this.deps.planeUrl, '/host/v1/link').replace(/^http/, 'ws'), {
      headers: { authorization: `Bearer ${token}`, [AGENT_PROCESS_HEADER]: this.process },
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      maxPayload: MESSAGE_MAX_BYTES,
      perMessageDeflate: false,
    })
    this.socket = socket
    const sentBeats = new Map<number, number>()
    const parts = new DesiredParts((after) => send(socket, { type: 'more', after }))
    let acknowledged = false
    let reason = 'the connection was closed'
    let lastAck = performance.now()
    let timer: NodeJS.Timeout | undefined

    const drop = (why: string) => {
      reason = why
      socket.terminate()
    }
    const beat = (number: number) => {
      if (performance.now() - lastAck > ACK_TIMEOUT_MS) return drop(`no heartbeat was acknowledged for ${ACK_TIMEOUT_MS / 1000} s`)
      sentBeats.set(number, performance.now())
      send(socket, {
        type: 'beat',
        beat: number,
        appliedRevision: this.revision,
        sentAt: Date.now(),
        ...this.deps.beat(number === FIRST_BEAT),
      })
      this.deps.tokens.get().catch((error: unknown) => {
        // Each beat renews the access token if it is due. If the renewal fails, the old token stays in use; only a refusal is final.
        if (error instanceof IdentityRefused) drop(errorText(error))
      })
      timer = setTimeout(() => beat(number + 1), BEAT_INTERVAL_MS * (1 - BEAT_JITTER + 2 * BEAT_JITTER * Math.random()))
    }
    socket.on('open', () => {
      this.deps.log.info('linked to the plane', { url: this.deps.planeUrl })
      lastAck = performance.now()
      send(socket, this.deps.hello())
      beat(FIRST_BEAT)
    })
    socket.on('message', (data) => {
      const message = PlaneMessage.safeParse(parseJson(String(data))).data
      if (message === undefined) return this.deps.log.warn('ignored a message of the plane that this agent does not understand')
      if (message.type !== 'beatAck') return this.receive(message, parts)
      acknowledged = true
      lastAck = performance.now()
      const sentAt = sentBeats.get(message.beat)
      if (sentAt !== undefined) this.deps.onLease(sentAt)
      for (const number of sentBeats.keys()) if (number <= message.beat) sentBeats.delete(number)
    })
    socket.on('unexpected-response', (_request, response) => {
      if (response.statusCode === 401) this.deps.tokens.invalidate(token)
      drop(`the plane answered ${response.statusCode}`)
    })
    socket.on('error', (error) => {
      if (reason === 'the connection was closed') reason = errorText(error)
    })
    socket.on('close', (code) => {
      clearTimeout(timer)
      // 4401: closed by a plane that can refuse a token only after the upgrade.
      if (code === 4401) this.deps.tokens.invalidate(token)
      done({ acknowledged, reason })
    })
  }

  private receive(message: Exclude<PlaneMessage, { type: 'beatAck' }>, parts: DesiredParts): void {
    if (message.type === 'revoked') {
      this.deps.onRevoked(message.reason)
      return
    }
    if (message.revision < this.revision) {
      this.deps.log.debug('ignored an older snapshot', { revision: message.revision })
      return
    }
    const desired = parts.take(message)
    if (desired === undefined) return
    // Without `silenceMaxMs` the plane lets no job wait longer than the minimum.
    this.deps.onDesired(desired.workloads, desired.silenceMaxMs ?? 0, desired.overlays ?? [])
    this.revision = desired.revision
  }
}

function send(socket: WebSocket, message: AgentMessage): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}
