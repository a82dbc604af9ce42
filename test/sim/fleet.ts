import type { HostEvent } from '../../src/domain/host/event.ts'
import { type PlacementHost, type PlacementRequest, rankHosts } from '../../src/domain/host/placement.ts'
import { judgePresence, type PresenceStage } from '../../src/domain/host/presence.ts'
import type { Worker } from '../../src/domain/worker/worker.ts'
import type { Workload, WorkloadReport } from '../../src/host-protocol/messages.ts'
import type { Placement } from '../../src/queue/workers/outside-calls.ts'
import type { World } from './world.ts'

const LOST_AFTER_MS = 300_000
/** The longest time that a job waits for a silent host. */
export const SILENCE_MAX_MS = 600_000
const CHECK_EVERY_MS = 5_000
const GPU_TYPE = 'NVIDIA L4'

/** An endpoint whose workers run on hosts. Both calls return whether it has stored the message. */
export interface WorkerOwner {
  readonly id: string
  report(report: WorkloadReport): boolean
  hostChanged(workerIds: readonly string[], event: HostEvent): boolean
}

interface Allocation {
  endpoint: WorkerOwner
  workerId: string
  host: HostNode
  gpus: number
}

/** The object of a host in the plane; its state survives. */
export class HostNode {
  readonly id: string
  readonly gpus: number
  readonly desired = new Map<string, Workload>()
  stage: PresenceStage = 'OFFLINE'
  private heardAtMs = 0
  private offlineAtMs: number | null = null
  /** A change of its presence that some endpoint has not stored yet. */
  private isToldStage: PresenceStage = 'OFFLINE'
  private readonly world: World
  private readonly fleet: Fleet

  constructor(world: World, fleet: Fleet, id: string, gpus: number) {
    this.world = world
    this.fleet = fleet
    this.id = id
    this.gpus = gpus
    this.checkLater()
  }

  /** A heartbeat; the answer is the desired state. */
  beat(): Workload[] {
    this.heardAtMs = this.world.nowMs
    if (this.stage !== 'LIVE') this.enter('LIVE')
    return [...this.desired.values()]
  }

  /** Whether the report is stored and need not be repeated. */
  take(report: WorkloadReport): boolean {
    const allocation = this.fleet.find(report.workloadId)
    if (!allocation) return true
    if (!allocation.endpoint.report({ ...report, workloadId: allocation.workerId })) return false
    if (report.state !== 'gone') return true
    this.desired.delete(report.workloadId)
    this.fleet.free(report.workloadId)
    return true
  }

  /** Whether it has been connected for long. */
  isSteady(): boolean {
    return this.stage === 'LIVE' && this.world.nowMs - this.heardAtMs < 10_000
  }

  private checkLater(): void {
    this.world.after(CHECK_EVERY_MS, () => {
      const facts = { stage: this.stage, heardAtMs: this.heardAtMs, linkClosedAtMs: null, offlineAtMs: this.offlineAtMs }
      const { stage } = judgePresence({ ...facts, lostAfterMs: LOST_AFTER_MS }, this.world.nowMs)
      if (stage !== this.stage) this.enter(stage)
      else if (this.isToldStage !== stage) this.tell()
      this.checkLater()
    })
  }

  private enter(stage: PresenceStage): void {
    this.world.say(`${this.id} is ${stage}`)
    this.world.checks.note(`a host becomes ${stage}`)
    this.offlineAtMs = stage === 'OFFLINE' ? this.world.nowMs : stage === 'LOST' ? this.offlineAtMs : null
    this.stage = stage
    this.tell()
  }

  /** Notifies all endpoints with workers there; repeated until each has stored it. */
  private tell(): void {
    const kinds = { LIVE: 'heard', SUSPECT: 'silent', OFFLINE: 'offline', LOST: 'lost' } as const
    const kind = kinds[this.stage]
    const event = kind === 'silent' || kind === 'offline' ? { kind, sinceMs: this.heardAtMs, waitMaxMs: SILENCE_MAX_MS } : { kind }
    const answers = [...this.fleet.workersOn(this)].map(([endpoint, ids]) => endpoint.hostChanged(ids, event))
    if (answers.every(Boolean)) this.isToldStage = this.stage
  }
}

/** The database of the plane: allocations, and the hosts that they are on. */
export class Fleet {
  readonly hosts: HostNode[] = []
  private readonly allocations = new Map<string, Allocation>()
  private readonly world: World

  constructor(world: World) {
    this.world = world
  }

  addHost(gpus: number): HostNode {
    const host = new HostNode(this.world, this, `host ${this.hosts.length}`, gpus)
    this.hosts.push(host)
    return host
  }

  find(workloadId: string): Allocation | undefined {
    return this.allocations.get(workloadId)
  }

  free(workloadId: string): void {
    this.allocations.delete(workloadId)
  }

  workersOn(host: HostNode): Map<WorkerOwner, string[]> {
    const found = new Map<WorkerOwner, string[]>()
    for (const { endpoint, workerId, host: on } of this.allocations.values())
      if (on === host) found.set(endpoint, [...(found.get(endpoint) ?? []), workerId])
    return found
  }

  /** Reserves a place and asks the host to start the worker. A repeated call finds the place of the first. */
  place(endpoint: WorkerOwner, worker: Worker): Placement {
    const id = workloadId(endpoint, worker.id)
    const known = this.allocations.get(id)
    if (known) {
      this.world.checks.note('a placement is repeated')
      return placedOn(known.host)
    }
    const best = rankHosts(
      request(endpoint),
      this.hosts.map((host) => this.asPlacementHost(host)),
    ).candidates[0]
    const host = this.hosts.find(({ id: hostId }) => hostId === best?.hostId)
    if (!host) {
      this.world.checks.note('no host has room')
      return { ok: false, reason: 'no capacity' }
    }
    this.allocations.set(id, { endpoint, workerId: worker.id, host, gpus: 1 })
    host.desired.set(id, workload(id, worker.boot))
    this.check()
    return placedOn(host)
  }

  /** Asks the host to stop a worker; `none`: nothing is left of it. */
  remove(endpoint: WorkerOwner, workerId: string, graceMs: number): 'none' | 'requested' {
    const id = workloadId(endpoint, workerId)
    const known = this.allocations.get(id)
    if (!known) return 'none'
    const wanted = known.host.desired.get(id)
    if (wanted) known.host.desired.set(id, { ...wanted, desired: 'stopped', stopGraceMs: Math.min(wanted.stopGraceMs, graceMs) })
    return 'requested'
  }

  /** No GPU is allocated twice. */
  check(): void {
    for (const host of this.hosts) {
      const used = this.usedOn(host)
      if (used > host.gpus) this.world.checks.fail(`${host.id} has ${host.gpus} GPUs, and ${used} are allocated`)
    }
  }

  restless(): string[] {
    return this.allocations.size === 0 ? [] : [`${this.allocations.size} allocations: ${[...this.allocations.keys()].join(' ')}`]
  }

  private usedOn(host: HostNode): number {
    return [...this.allocations.values()].reduce((sum, one) => sum + (one.host === host ? one.gpus : 0), 0)
  }

  private asPlacementHost(host: HostNode): PlacementHost {
    const free = host.gpus - this.usedOn(host)
    const place = { dataCenterId: 'LOCAL-1', publicIp: null, cloud: 'SECURE' as const, runtimes: ['docker'], sharedVolumes: null }
    const isolation = { runtimeClass: 'runc', requiredClasses: new Map<string, string>(), heldBy: null }
    const rest = { vcpuTotal: 64, vcpuFree: 64, memoryMbTotal: 512_000, memoryMbFree: 512_000, diskGbFree: 10_000 }
    const gpus = [{ typeId: GPU_TYPE, total: host.gpus, free, cudaVersion: null }]
    return { id: host.id, online: host.stage === 'LIVE', cordoned: false, ...place, ...isolation, ...rest, gpus }
  }
}

function workloadId(endpoint: WorkerOwner, workerId: string): string {
  return `${endpoint.id}.${workerId}`
}

function placedOn(host: HostNode): Placement {
  return { ok: true, hostId: host.id, gpuTypeId: GPU_TYPE, dataCenterId: 'LOCAL-1' }
}

function request(endpoint: WorkerOwner): PlacementRequest {
  const needs = { dataCenterIds: [], cloud: 'ALL' as const, diskGb: 5, allowedCudaVersions: [], minCudaVersion: null }
  const shapes = [{ gpu: { typeId: GPU_TYPE, count: 1 }, vcpus: 1, memoryMb: 1_000 }]
  return { teamId: `team of ${endpoint.id}`, runtime: 'docker', ...needs, shapes }
}

function workload(id: string, boot: string): Workload {
  const program = { image: 'i', entrypoint: [], cmd: [], env: { boot }, platformEnv: {}, ports: [] }
  const resources = { vcpus: 1, memoryMb: 1_000, diskGb: 5, gpu: { typeId: GPU_TYPE, count: 1 } }
  return { id, kind: 'worker', desired: 'running', stopGraceMs: 30_000, ...program, resources }
}
