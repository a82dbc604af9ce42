import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { PlaneClock } from '../src/host-agent/plane/clock-offset.ts'
import { enrol } from '../src/host-agent/plane/enrolment.ts'
import { HostKey } from '../src/host-agent/plane/host-key.ts'
import { type AgentMessage, BEAT_INTERVAL_MS, type Inventory, PlaneMessage, PROTOCOL_VERSION } from '../src/host-protocol/messages.ts'

export const CLUSTER_GPU = 'NVIDIA L4'
export const MEMBERS_A_HOST = 8
const MAX_TRIES = 20
const RETRY_MS = 50

/** A host that makes members ready, reaches all others and starts containers at once, so that only the plane's own time is measured. */
export interface ClusterHost {
  close(): void
}

/** Enrols with a plane and links. `number` determines its address; `directory` holds its key during the enrolment. */
export async function joinClusterHost(planeUrl: string, joinToken: string, number: number, directory: string): Promise<ClusterHost> {
  const inventory: Inventory = {
    ...{ agentVersion: 'bench', protocolVersion: PROTOCOL_VERSION, os: 'bench', vcpus: 64, memoryMb: 262_144, diskGb: 10_000 },
    gpus: [{ typeId: CLUSTER_GPU, count: MEMBERS_A_HOST, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true }],
    ...{ runtimes: ['docker'], isolation: { network: true }, simulated: true },
    overlay: { address: `192.0.2.${number}`, reason: null, encryption: 'none' },
  }
  const stateDir = mkdtempSync(join(directory, 'host-'))
  const key = await HostKey.load(stateDir)
  const joined = await enrol({ planeUrl, stateDir, joinToken, name: `bench-${number}`, key, inventory, clock: new PlaneClock() })
  rmSync(stateDir, { recursive: true })
  if ('retry' in joined) throw new Error(joined.retry)
  const authorization = `Bearer ${joined.answer.accessToken}`
  const socket = new WebSocket(`${planeUrl.replace(/^http/, 'ws')}/host/v1/link`, { headers: { authorization }, perMessageDeflate: false })
  await once(socket, 'open')
  const host = new QuickHost(planeUrl, authorization, socket)
  send(socket, { type: 'hello', inventory, workloads: [] })
  await once(socket, 'message')
  return host
}

class QuickHost implements ClusterHost {
  private readonly planeUrl: string
  private readonly authorization: string
  private readonly socket: WebSocket
  private readonly idle: NodeJS.Timeout
  private beats = 0
  private sequence = 0
  private readonly said = new Set<string>()

  constructor(planeUrl: string, authorization: string, socket: WebSocket) {
    this.planeUrl = planeUrl
    this.authorization = authorization
    this.socket = socket
    socket.on('message', (data) => void this.receive(PlaneMessage.parse(JSON.parse(String(data)))))
    this.idle = setInterval(() => {
      send(socket, { type: 'beat', beat: this.beats++, appliedRevision: Number.MAX_SAFE_INTEGER, sentAt: Date.now(), workloads: [] })
    }, BEAT_INTERVAL_MS)
  }

  close(): void {
    clearInterval(this.idle)
    this.socket.terminate()
  }

  private async receive(message: PlaneMessage): Promise<void> {
    if (message.type !== 'desired') return
    for (const { id, check } of message.overlays ?? []) {
      const ready = message.workloads.flatMap(({ id: workloadId, overlays, desired }) =>
        desired === 'running' && overlays?.some((place) => place.id === id) ? [workloadId.slice(0, workloadId.lastIndexOf('-'))] : [],
      )
      const report = { overlayId: id, check, ready, gaps: [] }
      if (check !== undefined && ready.length > 0) await this.say(`${JSON.stringify(report)}`, 'overlays', { reports: [report] })
    }
    const started = message.workloads.filter(({ desired, prepare }) => desired === 'running' && !prepare)
    await this.report(
      started.map(({ id }) => id),
      'running',
    )
    await this.report(
      message.workloads.filter(({ desired }) => desired === 'stopped').map(({ id }) => id),
      'gone',
    )
  }

  private async report(ids: readonly string[], state: 'running' | 'gone'): Promise<void> {
    const fresh = ids.filter((id) => !this.said.has(`${id} ${state}`))
    for (const id of fresh) this.said.add(`${id} ${state}`)
    if (fresh.length === 0) return
    const at = Date.now()
    const reports = fresh.map((workloadId) => ({ workloadId, state, exitCode: null, reason: null, at, sequence: ++this.sequence }))
    await this.post('events', { reports })
  }

  private async say(what: string, path: string, body: object): Promise<void> {
    if (this.said.has(what)) return
    this.said.add(what)
    await this.post(path, body)
  }

  // Like an agent, it repeats a request until it succeeds.
  private async post(path: string, body: object): Promise<void> {
    const headers = { authorization: this.authorization, 'content-type': 'application/json', connection: 'close' }
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      try {
        const reply = await fetch(`${this.planeUrl}/host/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
        await reply.arrayBuffer()
        if (reply.ok) return
      } catch {
        // The idle connection was closed.
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
    throw new Error(`/host/v1/${path} did not answer`)
  }
}

function send(socket: WebSocket, message: AgentMessage): void {
  socket.send(JSON.stringify(message))
}
