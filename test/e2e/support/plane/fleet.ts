import { rmSync } from 'node:fs'
import { docker } from '../machines/docker.ts'
import { removeNetworks } from '../machines/networks.ts'
import { callPlane, eventually, type StartAgentOptions, startAgent, startPlane, type TestAgent, type TestPlane } from './plane.ts'

/** A host as its operator sees it. */
export interface HostView {
  id: string
  name: string
  status: string
  health: string
  statusReason: string | null
  cordon: { reason: string | null } | null
  draining: boolean
  gpus: { typeId: string; total: number; free: number }[]
  diskGb: { total: number; free: number }
  vcpu: { total: number; free: number }
}

export interface HostOptions extends Omit<StartAgentOptions, 'plane' | 'name' | 'stateDir'> {
  /** The persistent volumes of this host are in this directory instead of its state directory. */
  volumeDir?: string
}

export interface FleetOptions {
  hosts: Record<string, HostOptions>
  /** Environment of the plane. */
  env?: Record<string, string>
  /** Docker client arguments of the engine on which all containers run. */
  engine?: readonly string[]
}

const HOST_LABEL = 'podplane.host'
const CAPACITY_WAIT_MS = 30_000
const HOST_POLL_MS = 100

/** A plane and its host agents on one machine: each agent with its own identity, state directory and simulated GPUs. */
export class Fleet {
  plane: TestPlane
  readonly engine: readonly string[]
  private readonly agents = new Map<string, TestAgent>()
  private readonly options: FleetOptions

  private constructor(plane: TestPlane, options: FleetOptions) {
    this.plane = plane
    this.options = options
    this.engine = options.engine ?? []
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const plane = await startPlane({ args: ['--no-agent'], ...(options.env && { env: options.env }) })
    const fleet = new Fleet(plane, options)
    try {
      await Promise.all(Object.keys(options.hosts).map((name) => fleet.startHost(name)))
      return fleet
    } catch (error) {
      await fleet.stop()
      throw error
    }
  }

  /** Starts the agent of a host, for the first time or again. */
  async startHost(name: string): Promise<void> {
    const { volumeDir, args = [], ...options } = this.options.hosts[name] ?? {}
    const known = this.agents.get(name)
    const more = volumeDir === undefined ? args : [...args, '--volume-dir', volumeDir]
    const identity = known === undefined ? {} : { stateDir: known.stateDir }
    this.agents.set(name, await startAgent({ ...options, ...identity, args: more, plane: this.plane, name, runtime: 'docker' }))
  }

  agent(name: string): TestAgent {
    const agent = this.agents.get(name)
    if (agent === undefined) throw new Error(`there is no agent ${name}`)
    return agent
  }

  async host(name: string): Promise<HostView> {
    const { hosts } = await callPlane<{ hosts: HostView[] }>(this.plane, this.plane.operatorKey, 'GET', '/admin/v1/hosts')
    const host = hosts.find((candidate) => candidate.name === name)
    if (host === undefined) throw new Error(`the plane knows no host ${name}`)
    return host
  }

  /** Sends an operator's command to a host. */
  async order(name: string, verb: 'cordon' | 'uncordon' | 'drain', body: Record<string, unknown> = {}): Promise<void> {
    const { id } = await this.host(name)
    await callPlane(this.plane, this.plane.operatorKey, 'POST', `/admin/v1/hosts/${id}/${verb}`, verb === 'uncordon' ? undefined : body)
  }

  /** Free GPUs of a type on a host. */
  async freeGpus(name: string, typeId: string): Promise<number> {
    return (await this.host(name)).gpus.find((gpu) => gpu.typeId === typeId)?.free ?? 0
  }

  /** Waits until a host has this many free GPUs: the agent reports released ones. */
  async hasFreeGpus(name: string, typeId: string, count: number): Promise<void> {
    const probe = async () => (await this.freeGpus(name, typeId)) === count
    await eventually(`${name} has ${count} free ${typeId}`, CAPACITY_WAIT_MS, probe, HOST_POLL_MS)
  }

  /** Name of the host that a container runs on, by the label that its agent gave it. */
  async hostOf(labels: Record<string, string>): Promise<string | undefined> {
    for (const name of this.agents.keys()) if ((await this.host(name)).id === labels[HOST_LABEL]) return name
    return undefined
  }

  /** Ends everything and removes its remains. */
  async stop(): Promise<void> {
    const ids = await Promise.all([...this.agents.keys()].map(async (name) => (await this.host(name)).id)).catch(() => [])
    await Promise.all([...this.agents.values()].map((agent) => agent.stop()))
    await this.plane.stop()
    for (const id of ids) await removeLeftovers(this.engine, id)
    for (const { stateDir } of this.agents.values()) {
      await removeNetworks(stateDir)
      rmSync(stateDir, { recursive: true, force: true })
    }
  }
}

/** Removes containers and kept disks of a host, which a failed test leaves behind. */
async function removeLeftovers(engine: readonly string[], hostId: string): Promise<void> {
  const filter = ['--filter', `label=${HOST_LABEL}=${hostId}`]
  const containers = await docker(...engine, 'ps', '--all', '--quiet', ...filter)
  if (containers !== '') await docker(...engine, 'rm', '--force', '--volumes', ...containers.split('\n'))
  const images = await docker(...engine, 'images', '--quiet', ...filter)
  if (images !== '') await docker(...engine, 'rmi', '--force', ...new Set(images.split('\n')))
}
