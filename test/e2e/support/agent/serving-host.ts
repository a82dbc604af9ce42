import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { createApiClient } from '../../../../src/client/client.ts'
import { silentLog } from '../../../../src/host-agent/log.ts'
import { AccessTokens } from '../../../../src/host-agent/plane/access-tokens.ts'
import { PlaneClock } from '../../../../src/host-agent/plane/clock-offset.ts'
import { enrol } from '../../../../src/host-agent/plane/enrolment.ts'
import { HostKey } from '../../../../src/host-agent/plane/host-key.ts'
import { Link } from '../../../../src/host-agent/plane/link.ts'
import { createReportSender } from '../../../../src/host-agent/plane/senders.ts'
import type { ExecSession } from '../../../../src/host-agent/runtime.ts'
import { Tunnel } from '../../../../src/host-agent/tunnel/tunnel.ts'
import { type Inventory, PROTOCOL_VERSION, type Workload } from '../../../../src/host-protocol/messages.ts'
import { createJoinToken } from '../../../../src/local/demo.ts'
import type { TestPlane } from '../plane/plane.ts'

const INVENTORY: Inventory = {
  agentVersion: 'test',
  protocolVersion: PROTOCOL_VERSION,
  os: 'test',
  vcpus: 64,
  memoryMb: 256 * 1024,
  diskGb: 10_000,
  gpus: [{ typeId: 'NVIDIA L4', count: 8, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true }],
  runtimes: ['docker'],
  isolation: { network: true },
  simulated: true,
}

/** A machine with an agent's own link and tunnel, whose workloads are one HTTP server of the test: it needs no container engine. */
export class ServingHost {
  /** Open connections of the plane to workloads, by requested path. */
  readonly open = new Map<string, number>()
  /** Number of running commands. */
  commands = 0
  private readonly server: Server
  private readonly stateDir: string
  private readonly parts: { close(): void }[] = []
  private readonly reported = new Set<string>()

  private constructor(stateDir: string, serve: RequestListener) {
    this.stateDir = stateDir
    this.server = createServer((request, response) => {
      this.count(request.url ?? '', request.socket)
      serve(request, response)
    })
    const sockets = new WebSocketServer({ noServer: true })
    this.server.on('upgrade', (request, socket, head) => {
      if (request.url === '/deaf') this.beDeaf(request.headers['sec-websocket-key'] ?? '', socket)
      else sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request))
    })
    sockets.on('connection', (socket, request) => {
      this.count(request.url ?? '', request.socket)
      socket.on('message', (data) => socket.send(data))
    })
  }

  /** Joins a plane. Every workload of the desired state is reported as running at once, and healthy. */
  static async join(plane: TestPlane, name: string, serve: RequestListener): Promise<ServingHost> {
    const stateDir = mkdtempSync(join(tmpdir(), 'podplane-serving-'))
    const host = new ServingHost(stateDir, serve)
    await new Promise<void>((resolve) => host.server.listen(0, '127.0.0.1', resolve))
    await host.link(plane, name)
    return host
  }

  async close(): Promise<void> {
    for (const part of this.parts) part.close()
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
    rmSync(this.stateDir, { recursive: true, force: true })
  }

  private async link(plane: TestPlane, name: string): Promise<void> {
    const { stateDir } = this
    const [clock, key, log, planeUrl] = [new PlaneClock(), await HostKey.load(stateDir), silentLog(), plane.url]
    const joinToken = await createJoinToken(createApiClient(plane.url, plane.operatorKey), name)
    const joined = await enrol({ planeUrl, stateDir, joinToken, name, key, inventory: INVENTORY, clock })
    if ('retry' in joined) throw new Error(joined.retry)
    const tokens = new AccessTokens({ planeUrl, key, identity: joined.identity, clock })
    tokens.accept(joined.answer)
    const place = async () => ({ host: '127.0.0.1', port: (this.server.address() as AddressInfo).port })
    const exec = async () => this.command()
    const tunnel = new Tunnel({ planeUrl, tokens, log, place, exec, accountOf: () => undefined })
    const send = createReportSender({ planeUrl, tokens, clock, log })
    const report = (workloads: Workload[]) => {
      const fresh = workloads.filter(({ id, desired }) => desired === 'running' && !this.reported.has(id))
      for (const { id } of fresh) this.reported.add(id)
      const change = { state: 'running', exitCode: null, reason: null, at: Date.now(), sequence: 1, health: 'healthy' } as const
      if (fresh.length > 0) void send(fresh.map(({ id }) => ({ ...change, ports: [], workloadId: id })))
      tunnel.open()
    }
    const link = new Link({
      planeUrl,
      tokens,
      log,
      hello: () => ({ type: 'hello', takesParts: true, inventory: INVENTORY, workloads: [] }),
      beat: () => ({ workloads: [...this.reported].map((id) => ({ id, state: 'running' as const })) }),
      onDesired: report,
      onLease: () => undefined,
      onRevoked: () => undefined,
    })
    this.parts.push(tunnel, link)
    void link.run()
  }

  /** A WebSocket that reads everything and answers nothing, not even a close. */
  private beDeaf(key: string, socket: Duplex): void {
    this.count('/deaf', socket)
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`)
    socket.on('error', () => undefined)
    socket.on('end', () => socket.destroy()).resume()
  }

  private count(path: string, socket: { once(event: 'close', then: () => void): unknown }): void {
    this.open.set(path, (this.open.get(path) ?? 0) + 1)
    socket.once('close', () => this.open.set(path, (this.open.get(path) ?? 1) - 1))
  }

  /** A command that prints a greeting and waits. */
  private command(): ExecSession {
    const over = Promise.withResolvers<void>()
    this.commands += 1
    void over.promise.then(() => {
      this.commands -= 1
    })
    async function* output() {
      yield { channel: 'stdout' as const, bytes: new TextEncoder().encode('hello') }
      await over.promise
    }
    return {
      output: output(),
      write: async () => undefined,
      endInput: () => undefined,
      resize: async () => undefined,
      signal: async () => undefined,
      exitCode: async () => 0,
      end: async () => over.resolve(),
    }
  }
}
