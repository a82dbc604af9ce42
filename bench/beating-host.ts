import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { PlaneClock } from '../src/host-agent/plane/clock-offset.ts'
import { enrol } from '../src/host-agent/plane/enrolment.ts'
import { HostKey } from '../src/host-agent/plane/host-key.ts'
import { type AgentMessage, BEAT_INTERVAL_MS, type Inventory, PlaneMessage, PROTOCOL_VERSION } from '../src/host-protocol/messages.ts'

/** A linked host that only sends heartbeats. */
export interface BeatingHost {
  /** Sends heartbeats until `untilMs`, each as soon as the previous one is acknowledged; returns the time of each, milliseconds. */
  beat(untilMs: number): Promise<number[]>
  close(): void
}

const INVENTORY: Inventory = {
  agentVersion: 'bench',
  protocolVersion: PROTOCOL_VERSION,
  os: 'bench',
  vcpus: 2,
  memoryMb: 4_096,
  diskGb: 1,
  gpus: [],
  runtimes: ['process'],
  simulated: true,
}

/** Enrols with a plane as an agent does, and links. `directory` holds its key during the enrolment. */
export async function joinBeatingHost(planeUrl: string, joinToken: string, name: string, directory: string): Promise<BeatingHost> {
  const stateDir = mkdtempSync(join(directory, 'host-'))
  const key = await HostKey.load(stateDir)
  const joined = await enrol({ planeUrl, stateDir, joinToken, name, key, inventory: INVENTORY, clock: new PlaneClock() })
  rmSync(stateDir, { recursive: true })
  if ('retry' in joined) throw new Error(joined.retry)
  const headers = { authorization: `Bearer ${joined.answer.accessToken}` }
  const socket = new WebSocket(`${planeUrl.replace(/^http/, 'ws')}/host/v1/link`, { headers, perMessageDeflate: false })
  await once(socket, 'open')
  send(socket, { type: 'hello', inventory: INVENTORY, workloads: [] })
  await once(socket, 'message')
  return new LinkedHost(socket)
}

class LinkedHost implements BeatingHost {
  private readonly socket: WebSocket
  private readonly idle: NodeJS.Timeout
  private beats = 0
  private acknowledged: (beat: number) => void = () => undefined

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data) => this.receive(String(data)))
    // The heartbeat interval of an agent, while other hosts join or nothing is measured.
    this.idle = setInterval(() => this.sendBeat(), BEAT_INTERVAL_MS)
  }

  async beat(untilMs: number): Promise<number[]> {
    const took: number[] = []
    while (performance.now() < untilMs) {
      const startedAt = performance.now()
      await this.beatOnce()
      took.push(performance.now() - startedAt)
    }
    return took
  }

  close(): void {
    clearInterval(this.idle)
    this.socket.terminate()
  }

  private beatOnce(): Promise<void> {
    const number = this.sendBeat()
    return new Promise((resolve, reject) => {
      const onClose = (code: number) => reject(new Error(`the plane closed a link (${code})`))
      this.socket.once('close', onClose)
      this.acknowledged = (beat) => {
        if (beat !== number) return
        this.socket.off('close', onClose)
        resolve()
      }
    })
  }

  private sendBeat(): number {
    const beat = this.beats++
    const appliedRevision = Number.MAX_SAFE_INTEGER
    send(this.socket, { type: 'beat', beat, appliedRevision, sentAt: Date.now(), workloads: [], cpuPercent: 12.5, memoryPercent: 40.1 })
    return beat
  }

  private receive(text: string): void {
    const message = PlaneMessage.parse(JSON.parse(text))
    if (message.type === 'beatAck') this.acknowledged(message.beat)
  }
}

function send(socket: WebSocket, message: AgentMessage): void {
  socket.send(JSON.stringify(message))
}
