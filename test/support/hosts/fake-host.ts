import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { DesiredParts } from '../../../src/host-agent/plane/desired-parts.ts'
import { TAKE_AGAIN_HEADER } from '../../../src/host-protocol/delivery.ts'
import type { EnrolRequest } from '../../../src/host-protocol/enrolment.ts'
import { type LogLine, LogsResponse } from '../../../src/host-protocol/logs.ts'
import type { Inventory, PlaneMessage, Workload, WorkloadReport } from '../../../src/host-protocol/messages.ts'
import type { Overlay, OverlayReport } from '../../../src/host-protocol/overlays.ts'
import type { VolumesRequest, VolumesResponse } from '../../../src/host-protocol/volumes.ts'
import { admin, expect, send } from '../harness.ts'

const INVENTORY: Inventory = {
  agentVersion: 'test',
  protocolVersion: 1,
  os: 'test',
  vcpus: 4_096,
  memoryMb: 16 * 1024 * 1024,
  diskGb: 100_000,
  gpus: [{ typeId: 'NVIDIA GeForce RTX 4090', count: 1_000, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true }],
  runtimes: ['process', 'docker'],
  isolation: { network: true },
  simulated: true,
}

/** A machine that speaks the host protocol with the plane and starts nothing: tests play its workers by hand. */
export class FakeHost {
  private static readonly linked = new Set<FakeHost>()
  readonly id: string
  private readonly key: CryptoKey
  private readonly inventory: Inventory
  private socket: WebSocket | undefined
  accessToken: string
  private readonly sequences = new Map<string, number>()
  /** Whether its agent accepts its desired state in parts; to be set before a link. */
  takesParts = true
  /** Characters of the largest message that it received. */
  largestMessage = 0
  private workloads: Workload[] = []
  /** The private networks in its last desired state. */
  overlays: Overlay[] = []
  private waiting: (() => void)[] = []
  private beats: ReturnType<typeof setInterval> | undefined
  private beatNumber = 0
  private acknowledged: ((beat: number) => void)[] = []

  private constructor(id: string, key: CryptoKey, accessToken: string, inventory: Inventory) {
    this.id = id
    this.key = key
    this.accessToken = accessToken
    this.inventory = inventory
  }

  /** Enrols through the public path, waits until the plane has accepted the host, and sends heartbeats. */
  static async join(change: Partial<Inventory> = {}, token: Record<string, unknown> = {}): Promise<FakeHost> {
    const host = await FakeHost.enrol(change, token)
    await host.link()
    FakeHost.linked.add(host)
    host.beats = setInterval(() => host.sendBeat(), 5_000)
    return host
  }

  /** Plays the start of a workload's container on the host where it was placed; several hosts may have capacity for it. */
  static async startAnywhere(workloadId: string): Promise<void> {
    const taken = [...FakeHost.linked].map(async (host) => {
      await host.waitFor(({ id }) => id === workloadId)
      return host
    })
    await (await Promise.race(taken)).report(workloadId, { state: 'running', ports: [] })
  }

  /** Enrols, and leaves linking and heartbeats to the test. */
  static async enrol(change: Partial<Inventory> = {}, tokenBody: Record<string, unknown> = {}): Promise<FakeHost> {
    const inventory = { ...INVENTORY, ...change }
    const token = (await admin().post('/admin/v1/join-tokens', { name: 'test-host', ...tokenBody })).body.token
    const keys = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const reply = await FakeHost.askToEnrol(token, {}, inventory, keys)
    expect(reply.status).toBe(200)
    const { hostId, accessToken } = (await reply.json()) as { hostId: string; accessToken: string }
    const host = new FakeHost(hostId, keys.privateKey, accessToken, inventory)
    host.enrolAgain = () => FakeHost.askToEnrol(token, {}, inventory, keys)
    return host
  }

  /** Sends its enrolment once more, as an agent does that did not receive the answer. */
  enrolAgain: () => Promise<Response> = () => Promise.reject(new Error('it has not enrolled'))

  /** The answer to an enrolment. */
  static async askToEnrol(...what: Parameters<typeof FakeHost.enrolment>): Promise<Response> {
    return postJson('/host/v1/enrol', await FakeHost.enrolment(...what))
  }

  /** The enrolment request of a machine; `publicJwk` changes the key that is claimed, not the one that signs. */
  static async enrolment(
    token: string,
    publicJwk: { x?: string } = {},
    inventory: Inventory = INVENTORY,
    keys?: Awaited<ReturnType<typeof generateKeyPair>>,
  ): Promise<EnrolRequest> {
    const { publicKey, privateKey } = keys ?? (await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true }))
    const jwk = await exportJWK(publicKey)
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
    const subject = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
    const proof = await new SignJWT({})
      .setProtectedHeader({ alg: 'EdDSA' })
      .setAudience('podplane-host')
      .setSubject(subject)
      .setIssuedAt()
      .setExpirationTime('60s')
      .setJti(crypto.randomUUID())
      .sign(privateKey)
    return { joinToken: token, name: 'x', publicKey: { kty: 'OKP', crv: 'Ed25519', x: jwk.x ?? '', ...publicJwk }, proof, inventory }
  }

  /** Opens a link and waits until the plane has accepted the host. */
  async link(): Promise<void> {
    const link = await this.openLink()
    expect(link.status).toBe(101)
    const socket = link.webSocket
    if (!socket) throw new Error('no socket')
    const parts = new DesiredParts((after) => socket.send(JSON.stringify({ type: 'more', after })))
    socket.addEventListener('message', (event) => {
      this.largestMessage = Math.max(this.largestMessage, String(event.data).length)
      this.receive(JSON.parse(String(event.data)) as PlaneMessage, parts)
    })
    this.socket = socket
    socket.accept()
    const welcomed = this.changed()
    socket.send(JSON.stringify({ type: 'hello', inventory: this.inventory, workloads: [], takesParts: this.takesParts }))
    await welcomed
  }

  /** Says hello once more over the same link, with another inventory. */
  async greetAgain(change: Partial<Inventory>): Promise<void> {
    const welcomed = this.changed()
    this.socket?.send(
      JSON.stringify({ type: 'hello', inventory: { ...this.inventory, ...change }, workloads: [], takesParts: this.takesParts }),
    )
    await welcomed
  }

  /** The answer to a request for a link. */
  openLink(headers: Record<string, string> = {}): Promise<Response> {
    return send('/host/v1/link', {
      headers: { Upgrade: 'websocket', Authorization: `Bearer ${this.accessToken}`, 'podplane-agent-process': this.id, ...headers },
    })
  }

  /** Calls `call` with the code with which the plane closes the link. */
  onClose(call: (code: number) => void): void {
    this.socket?.addEventListener('close', (event) => call(event.code))
  }

  /** Stops automatic heartbeats; from then on the test sends them. */
  stopBeating(): void {
    clearInterval(this.beats)
  }

  /** Sends one heartbeat; resolves once the plane has acknowledged it. */
  async beat(change: Record<string, unknown> = {}): Promise<void> {
    const number = this.sendBeat(change)
    await new Promise<void>((resolve) => {
      this.acknowledged.push((beat) => {
        if (beat === number) resolve()
      })
    })
  }

  private sendBeat(change: Record<string, unknown> = {}): number {
    const beat = this.beatNumber++
    const message = { type: 'beat', beat, appliedRevision: Number.MAX_SAFE_INTEGER, sentAt: Date.now(), workloads: [], ...change }
    // The plane may have closed the link: then a heartbeat is lost, as on the wire.
    if (this.socket?.readyState === WebSocket.READY_STATE_OPEN) this.socket.send(JSON.stringify(message))
    return beat
  }

  /** An assertion of this host, as `HostKey` signs it; `skewMs` is the error of its clock. A claim that is undefined is left out. */
  async assertion({ skewMs = 0, ...claims }: { skewMs?: number; [claim: string]: unknown } = {}): Promise<string> {
    const now = Math.floor((Date.now() + skewMs) / 1000)
    const own = { iss: this.id, sub: this.id, aud: 'podplane-host', epoch: 1, iat: now, exp: now + 60, jti: crypto.randomUUID() }
    return new SignJWT({ ...own, ...claims } as JWTPayload).setProtectedHeader({ alg: 'EdDSA' }).sign(this.key)
  }

  /** Requests an access token; a valid one is used from then on. */
  async renew(assertion: string): Promise<number> {
    const reply = await postJson('/host/v1/token', { assertion })
    const body = (await reply.json()) as { accessToken?: string }
    if (body.accessToken) this.accessToken = body.accessToken
    return reply.status
  }

  /** The answer to any post with the current access token. */
  post(path: 'events' | 'logs' | 'volumes' | 'overlays', body: unknown): Promise<Response> {
    return postJson(`/host/v1/${path}`, body, this.accessToken)
  }

  /**
   * Sends any message over a link of its own, after a hello. Resolves with the type of the plane's answer, or with the code with which it
   * closes the link.
   */
  async say(message: Record<string, unknown>): Promise<string | number> {
    const { webSocket } = await this.openLink()
    if (!webSocket) throw new Error('no socket')
    const heard: (string | number)[] = []
    let wake = () => {}
    const hear = (what: string | number) => {
      heard.push(what)
      wake()
    }
    webSocket.addEventListener('message', ({ data }) => hear((JSON.parse(String(data)) as PlaneMessage).type))
    webSocket.addEventListener('close', ({ code }) => hear(code))
    webSocket.accept()
    const answer = async (to: Record<string, unknown>) => {
      webSocket.send(JSON.stringify({ inventory: this.inventory, workloads: [], takesParts: true, ...to }))
      if (heard.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return heard.shift() ?? 0
    }
    expect(await answer({ type: 'hello' })).toBe('desired')
    const last = await answer(message)
    webSocket.close()
    return last
  }

  /** The status of a callback with the current access token. */
  async callStatus(path: 'events' | 'logs' | 'volumes'): Promise<number> {
    const report = { workloadId: 'nothing', state: 'running', exitCode: null, reason: null, at: 0, sequence: 1 }
    const access = { kind: 'worker', ownerId: 'nobody', grant: 'none' }
    const lines = [{ seq: 1, at: 0, source: 'container', line: '' }]
    const body = path === 'events' ? { reports: [report] } : { batches: [{ workloadId: 'nothing', access, lines }] }
    return statusOf(await postJson(`/host/v1/${path}`, body, this.accessToken))
  }

  /** Exchanges an agent's volume requests and reports. */
  async exchangeVolumes(request: Partial<VolumesRequest> = {}): Promise<VolumesResponse> {
    const body = { kinds: ['network', 'global'], since: null, wiped: [], used: [], held: [], ...request }
    const reply = await postJson('/host/v1/volumes', body, this.accessToken)
    expect(reply.status).toBe(200)
    return (await reply.json()) as VolumesResponse
  }

  /** Waits for a workload that satisfies `wanted`. */
  async waitFor(wanted: (workload: Workload) => boolean): Promise<Workload> {
    for (;;) {
      const found = this.workloads.find(wanted)
      if (found) return found
      await this.changed()
    }
  }

  /** Waits for a running workload of an endpoint that is not in `known`, and plays its container's start. */
  async startWorker(endpointId: string, known: readonly string[] = []): Promise<FakeWorker> {
    const workload = await this.waitFor(
      (w) => w.desired === 'running' && w.platformEnv.RUNPOD_ENDPOINT_ID === endpointId && !known.includes(w.id),
    )
    await this.report(workload.id, { state: 'running' })
    return new FakeWorker(workload)
  }

  /** Reports a state change as an agent does. */
  async report(workloadId: string, change: Partial<WorkloadReport>): Promise<void> {
    const sequence = (this.sequences.get(workloadId) ?? 0) + 1
    this.sequences.set(workloadId, sequence)
    const report = { workloadId, state: 'running', exitCode: null, reason: null, at: Date.now(), sequence, ...change }
    const reply = await postJson('/host/v1/events', { reports: [report] }, this.accessToken)
    expect(reply.status).toBe(200)
  }

  /** Reports which members of private networks reach one another, as an agent does. */
  async reportReach(...reports: OverlayReport[]): Promise<void> {
    const reply = await postJson('/host/v1/overlays', { reports }, this.accessToken)
    expect(reply.status).toBe(200)
  }

  /** Ships lines as an agent does, numbered from `firstSeq`. */
  async ship(workload: Workload, lines: readonly (string | Partial<LogLine>)[], firstSeq = 1): Promise<LogsResponse['results']> {
    const numbered = lines.map((line, index) => {
      const change = typeof line === 'string' ? { line } : line
      return { seq: firstSeq + index, at: Date.UTC(2026, 5, 1, 12, 0, index), source: 'container', line: '', ...change }
    })
    return this.shipRaw([{ workloadId: workload.id, access: workload.log, lines: numbered }])
  }

  /** The answer to batches of any form. */
  async shipRaw(batches: unknown): Promise<LogsResponse['results']> {
    const results = await this.tryShip(batches)
    if (results === null) throw new Error('the plane no longer knows this machine')
    return results
  }

  /** Ships batches; null for a machine that the plane does not know. */
  async tryShip(batches: unknown): Promise<LogsResponse['results'] | null> {
    const reply = await postJson('/host/v1/logs', { batches }, this.accessToken)
    expect([200, 401]).toContain(reply.status)
    return reply.status === 401 ? null : LogsResponse.parse(await reply.json()).results
  }

  desired(): readonly Workload[] {
    return this.workloads
  }

  leave(code = 1000): void {
    FakeHost.linked.delete(this)
    clearInterval(this.beats)
    this.socket?.close(code, 'test over')
  }

  private receive(message: PlaneMessage, parts: DesiredParts): void {
    if (message.type === 'beatAck') for (const hear of this.acknowledged) hear(message.beat)
    if (message.type !== 'desired') return
    const desired = parts.take(message)
    if (!desired) return
    this.workloads = desired.workloads
    this.overlays = desired.overlays ?? []
    const waiting = this.waiting
    this.waiting = []
    for (const wake of waiting) wake()
  }

  private changed(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve))
  }
}

/** A worker played by hand: the calls of a worker SDK, with the key and the templates that the plane injected. */
export class FakeWorker {
  readonly id: string
  readonly workload: Workload
  readonly token: string
  private delivery: string | undefined

  constructor(workload: Workload) {
    this.workload = workload
    this.id = workload.id
    this.token = workload.platformEnv.RUNPOD_AI_API_KEY ?? ''
  }

  /** One take; null for an answer without a job (204). */
  async take(options: { jobInProgress?: '0' | '1'; signal?: AbortSignal } = {}): Promise<{ id: string; input: unknown } | null> {
    const reply = await this.call(
      'RUNPOD_WEBHOOK_GET_JOB',
      '',
      `&job_in_progress=${options.jobInProgress ?? '0'}`,
      undefined,
      options.signal,
    )
    if (reply.status === 200) return (await reply.json()) as { id: string; input: unknown }
    await statusOf(reply)
    return null
  }

  async takeRaw(extra = '&job_in_progress=0'): Promise<Response> {
    return this.call('RUNPOD_WEBHOOK_GET_JOB', '', extra)
  }

  /** A take as the relay repeats it: the connection broke before an answer arrived (LSE-30). */
  async takeAgain(): Promise<{ id: string } | null> {
    const url = `${this.url('RUNPOD_WEBHOOK_GET_JOB', '')}&job_in_progress=0`
    const reply = await send(url, { headers: { Authorization: this.token, [TAKE_AGAIN_HEADER]: '1' } })
    return reply.status === 200 ? ((await reply.json()) as { id: string }) : null
  }

  async takeBatch(size: number, idle = true, signal?: AbortSignal): Promise<{ id: string }[]> {
    const url = this.url('RUNPOD_WEBHOOK_GET_JOB', '').replace('/job-take/', '/job-take-batch/')
    const init = { headers: { Authorization: this.token }, ...(signal && { signal }) }
    const reply = await send(`${url}&batch_size=${size}&job_in_progress=${idle ? 0 : 1}`, init)
    return reply.status === 200 ? ((await reply.json()) as { id: string }[]) : []
  }

  async done(jobId: string, body: unknown, stream = false): Promise<number> {
    return statusOf(await this.call('RUNPOD_WEBHOOK_POST_OUTPUT', jobId, `&isStream=${stream}`, body))
  }

  async stream(jobId: string, body: unknown): Promise<number> {
    return statusOf(await this.call('RUNPOD_WEBHOOK_POST_STREAM', jobId, '&isStream=false', body))
  }

  async ping(jobIds: readonly string[] = [], sdkVersion = '1.12.0'): Promise<number> {
    const list = jobIds.length > 0 ? `&job_id=${jobIds.join(',')}` : ''
    return statusOf(await this.call('RUNPOD_WEBHOOK_PING', '', `${list}&runpod_version=${sdkVersion}`))
  }

  async unhealthy(check: string, reason: string): Promise<number> {
    return statusOf(await this.call('RUNPOD_WEBHOOK_PING', '', `&status=unhealthy&check=${check}&reason=${encodeURIComponent(reason)}`))
  }

  async stopPoll(): Promise<string[]> {
    const url = this.url('RUNPOD_WEBHOOK_GET_JOB', '').replace('/job-take/', '/job-stop/')
    const reply = await send(url, { headers: { Authorization: this.token } })
    return reply.status === 200 ? ((await reply.json()) as { jobsToStop: string[] }).jobsToStop : []
  }

  /** The same worker behind an agent's relay that numbers its posts, all of them with this number. */
  withDelivery(delivery: string): FakeWorker {
    const worker = new FakeWorker(this.workload)
    worker.delivery = delivery
    return worker
  }

  /** The same worker under another boot nonce, as a paused predecessor would send. */
  withBoot(boot: string): FakeWorker {
    const platformEnv = Object.fromEntries(
      Object.entries(this.workload.platformEnv).map(([name, value]) => [name, value.replace(/boot=[^&]+/, `boot=${boot}`)]),
    )
    return new FakeWorker({ ...this.workload, platformEnv })
  }

  url(template: string, jobId: string): string {
    return (this.workload.platformEnv[template] ?? '')
      .replace('{{relay_url}}', '')
      .replace('$RUNPOD_POD_ID', this.id)
      .replace('$ID', template === 'RUNPOD_WEBHOOK_GET_JOB' ? this.id : jobId)
  }

  private call(template: string, jobId: string, extra: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const headers = {
      Authorization: this.token,
      'Content-Type': body === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(text !== undefined && { 'Content-Length': String(new TextEncoder().encode(text).length) }),
      ...(this.delivery !== undefined && { 'podplane-delivery': this.delivery }),
    }
    const init = text === undefined ? { headers } : { method: 'POST', headers, body: text }
    return send(this.url(template, jobId) + extra, signal ? { ...init, signal } : init)
  }
}

// An unread body keeps its request open, and an object with open requests cannot be restarted.
async function statusOf(response: Response): Promise<number> {
  await response.arrayBuffer()
  return response.status
}

function postJson(path: string, body: unknown, token?: string): Promise<Response> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  if (token) headers.Authorization = `Bearer ${token}`
  const text = JSON.stringify(body)
  return send(path, { method: 'POST', headers: { ...headers, 'Content-Length': String(text.length) }, body: text })
}
