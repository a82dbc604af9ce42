import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { json } from 'node:stream/consumers'
import { importJWK, jwtVerify } from 'jose'
import { type WebSocket, WebSocketServer } from 'ws'
import { ASSERTION_AUDIENCE, EnrolRequest, TokenRequest } from '../../../src/host-protocol/enrolment.ts'
import { type LogBatch, type LogLine, LogsRequest } from '../../../src/host-protocol/logs.ts'
import { AgentMessage, EventsRequest, type PlaneMessage, type Workload, type WorkloadReport } from '../../../src/host-protocol/messages.ts'
import { type Overlay, type OverlayReport, OverlaysRequest } from '../../../src/host-protocol/overlays.ts'
import { type VolumeRef, VolumesRequest } from '../../../src/host-protocol/volumes.ts'
import { FakeJobs } from './fake-jobs.ts'

/** A plane for one host: checks signatures like the real one, records messages, answers as the test sets it. */
export class FakePlane {
  readonly jobs = new FakeJobs()
  readonly messages: AgentMessage[] = []
  readonly reports: WorkloadReport[] = []
  readonly joinToken = 'ppj_test_join_token'
  /** The id of the host; containers have it as a label. */
  hostId = 'host_1'
  accessTokens = new Set<string>()
  workloads: Workload[] = []
  /** Private networks sent with the workloads. */
  overlays: Overlay[] = []
  /** Reports of the agent about private networks. */
  readonly overlayReports: OverlayReport[] = []
  revision = 0
  epoch = 0
  acknowledgeBeats = true
  /** Lifetime of the access tokens issued from then on. */
  tokenSeconds = 3_600
  /** Whether the plane has given up on the host. */
  refuseTokens = false
  /** How many of the next assertions are refused. */
  refuseAssertions = 0
  /** Answer of the events route; anything but 200 makes the agent repeat. */
  eventsStatus = 200
  readonly logs = new Map<string, LogLine[]>()
  /** Requests of the agent about volumes. */
  readonly volumes: VolumesRequest[] = []
  /** Deleted volumes that wait for the agent. */
  toWipe: VolumeRef[] = []
  /** Answer of the logs route; lines are taken with 200 only. */
  logsStatus = 200
  private hostKey: EnrolRequest['publicKey'] | undefined
  private readonly sockets = new Set<WebSocket>()
  private readonly server = createServer((request, response) => {
    this.handle(request, response).catch((error: unknown) => answer(response, 401, { detail: String(error) }))
  })
  private readonly upgrades = new WebSocketServer({ noServer: true })

  async listen(port = 0): Promise<string> {
    this.server.on('upgrade', (request, socket: Duplex, head) => this.upgrade(request, socket, head))
    await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.dropLinks()
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  /** Sets the desired workloads of the host and sends them. */
  setDesired(...workloads: Workload[]): void {
    this.workloads = workloads
    this.revision += 1
    this.push()
  }

  push(): void {
    this.send(this.desired())
  }

  private desired(): PlaneMessage {
    return { type: 'desired', revision: this.revision, workloads: this.workloads, overlays: this.overlays }
  }

  send(message: PlaneMessage): void {
    for (const socket of this.sockets) socket.send(JSON.stringify(message))
  }

  dropLinks(): void {
    for (const socket of this.sockets) socket.terminate()
  }

  /** The states in the order of their numbers: a report may come twice when the agent was killed before it noted the answer. */
  states(workloadId: string): string[] {
    const own = this.reports.filter((report) => report.workloadId === workloadId)
    return [...new Map(own.map((report) => [report.sequence, report.state])).values()]
  }

  last(workloadId: string): WorkloadReport | undefined {
    return this.reports.findLast((report) => report.workloadId === workloadId)
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/v2/')) return await this.jobs.handle(request, response)
    switch (request.url) {
      case '/host/v1/enrol':
        return answer(response, 200, await this.enrol(EnrolRequest.parse(await json(request))))
      case '/host/v1/token':
        return answer(response, 200, await this.issueToken(TokenRequest.parse(await json(request))))
      case '/host/v1/events': {
        if (!this.authorised(request)) return answer(response, 401, { detail: 'bad access token' })
        const { reports } = EventsRequest.parse(await json(request))
        if (this.eventsStatus === 200) this.reports.push(...reports)
        return answer(response, this.eventsStatus, {})
      }
      case '/host/v1/logs': {
        if (!this.authorised(request)) return answer(response, 401, { detail: 'bad access token' })
        const { batches } = LogsRequest.parse(await json(request))
        return answer(response, this.logsStatus, { results: batches.map((batch) => this.takeLog(batch)) })
      }
      case '/host/v1/overlays': {
        if (!this.authorised(request)) return answer(response, 401, { detail: 'bad access token' })
        this.overlayReports.push(...OverlaysRequest.parse(await json(request)).reports)
        return answer(response, 200, {})
      }
      case '/host/v1/volumes': {
        if (!this.authorised(request)) return answer(response, 401, { detail: 'bad access token' })
        const said = VolumesRequest.parse(await json(request))
        this.volumes.push(said)
        const gone = new Set(this.volumes.flatMap(({ wiped }) => wiped.map(({ id }) => id)))
        return answer(response, 200, { nowMs: Date.now(), wipe: this.toWipe.filter(({ id }) => !gone.has(id)), sizes: [] })
      }
      default:
        return answer(response, 404, { detail: 'no such route' })
    }
  }

  /** Like the plane, accepts a number once. */
  private takeLog({ workloadId, lines }: LogBatch) {
    const log = this.logs.get(workloadId) ?? []
    this.logs.set(workloadId, log)
    if (this.logsStatus === 200) log.push(...lines.filter(({ seq }) => seq > (log.at(-1)?.seq ?? 0)))
    return { workloadId, takenSeq: log.at(-1)?.seq ?? 0 }
  }

  /** Lines of a workload's log, `system` ones in brackets. */
  log(workloadId: string): string[] {
    return (this.logs.get(workloadId) ?? []).map(({ source, line }) => (source === 'system' ? `[${line}]` : line))
  }

  private async enrol(request: EnrolRequest) {
    if (request.joinToken !== this.joinToken) throw new Error('unknown join token')
    await jwtVerify(request.proof, await importJWK(request.publicKey, 'EdDSA'), { audience: ASSERTION_AUDIENCE })
    this.hostKey = request.publicKey
    this.epoch += 1
    return { hostId: this.hostId, epoch: this.epoch, dataCenterId: 'EU-TEST-1', ...this.newToken() }
  }

  private async issueToken({ assertion }: { assertion: string }) {
    if (this.refuseAssertions-- > 0) throw new Error('used before')
    if (this.hostKey === undefined || this.refuseTokens) throw new Error('unknown host')
    const options = { audience: ASSERTION_AUDIENCE, issuer: this.hostId, subject: this.hostId, maxTokenAge: 90 }
    await jwtVerify(assertion, await importJWK(this.hostKey, 'EdDSA'), options)
    return this.newToken()
  }

  private newToken() {
    const accessToken = `access-${crypto.randomUUID()}`
    this.accessTokens.add(accessToken)
    return { accessToken, expiresInSeconds: this.tokenSeconds }
  }

  private authorised(request: IncomingMessage): boolean {
    return this.accessTokens.has(request.headers.authorization?.replace(/^Bearer /, '') ?? '')
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!this.authorised(request)) {
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n')
      return
    }
    this.upgrades.handleUpgrade(request, socket, head, (link) => {
      this.sockets.add(link)
      link.on('close', () => this.sockets.delete(link))
      // A tunnel, which no test here uses, is a link without hello.
      if (request.url?.startsWith('/host/v1/tunnel')) return
      link.on('message', (data) => {
        const message = AgentMessage.parse(JSON.parse(String(data)))
        this.messages.push(message)
        if (message.type === 'beat' && this.acknowledgeBeats) link.send(JSON.stringify({ type: 'beatAck', beat: message.beat }))
        if (message.type === 'hello') link.send(JSON.stringify(this.desired()))
      })
    })
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
