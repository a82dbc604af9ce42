import { type Gang, placeGang } from '../../src/domain/cluster/gang.ts'
import {
  type Answers,
  ask,
  type Check,
  type ClusterState,
  decideCluster,
  type Member,
  type Step,
  takesMember,
  triedAfter,
} from '../../src/domain/cluster/life.ts'
import type { PlacementHost } from '../../src/domain/host/placement.ts'
import {
  decideElsewhere,
  decideGivenUp,
  decideHostLost,
  decideReport,
  decideTermination,
  decideWaitsAgain,
  isToRun,
  type PodChange,
  type PodState,
} from '../../src/domain/pod/pod.ts'
import type { PodSpec } from '../../src/domain/pod/record.ts'
import { desiredContainers } from '../../src/domain/pod/workloads.ts'
import { makePod } from '../support/pods/pod-state.ts'

// A cluster over plain maps: rows, hosts with their containers, and an object that may end at any moment.

const L4 = 'NVIDIA L4'
export const SPEC: PodSpec = {
  container: { image: 'acme/train:1', args: '', diskGb: 10, env: {}, ports: [], registry: null },
  compute: { kind: 'gpu', typeId: L4, count: 1, allowedCudaVersions: [], minCudaVersion: null, minRamGbPerGpu: null, minVcpuPerGpu: null },
  cloud: 'SECURE',
  dataCenterIds: [],
  mounts: {},
  globalNetworking: false,
  onHostLoss: 'WAIT',
}

/** A member's row. */
export type Row = PodState & {
  id: string
  rank: number
  hostId: string
  dataCenterId: string
  readyGeneration: number
  triedHosts: string[] | null
}

/** A machine with its state and its containers. */
export interface Machine {
  id: string
  dataCenterId: string
  overlay: 'local' | 'routed'
  gpus: number
  isUp: boolean
  isDraining: boolean
  /** Members whose containers cannot start here. */
  refuses: Set<string>
  /** Containers, by `<member>/<generation>`. */
  containers: Map<string, 'prepared' | 'running' | 'failed'>
}

/** Where the object ends: before or after a step. */
export type Crash = { after: number; when: 'before' | 'after' } | null

export class ClusterEnded extends Error {}

export class ClusterWorld {
  nowMs = 1_000_000
  readonly machines: Machine[]
  readonly onHostLoss: 'WAIT' | 'REPLACE'
  rows: Row[] = []
  isDeleted = false
  isDropped = false
  /** Number of the reachability check, as the rows of D1 hold it. */
  checkNumber = 0
  /** By owner and host: GPUs that are reserved. */
  reserved = new Map<string, { memberId: string; hostId: string }>()
  /** The stored state of the object, which survives its end. */
  check: Check | null = null
  answers = new Map<string, Answers[number]>()
  /** Pairs of machines that do not reach each other. */
  broken = new Set<string>()
  /** `<member>/<host>/<generation>` of members that a host has reported to reach all others. */
  readonly saidReady = new Set<string>()
  /** Containers that have started, in order. */
  readonly started: string[] = []

  constructor(machines: Machine[], onHostLoss: 'WAIT' | 'REPLACE') {
    this.machines = machines
    this.onHostLoss = onHostLoss
  }

  create(podCount: number): Gang {
    const gang = placeGang('t', SPEC, podCount, this.hosts(), 'pack')
    if (!gang.ok) return gang
    this.checkNumber = 1
    this.rows = gang.seats.map(({ hostId, dataCenterId }, rank) => ({
      ...makePod({ status: 'PROVISIONING', generation: 1, startedAtMs: null, chargedFromMs: null, changedAtMs: this.nowMs }),
      ...{ id: `m${rank}`, rank, hostId, dataCenterId, readyGeneration: 0, triedHosts: [] },
    }))
    for (const { id, hostId } of this.rows) this.reserved.set(`${id}@${hostId}`, { memberId: id, hostId })
    return gang
  }

  /** The hosts as placement sees them. */
  hosts(): PlacementHost[] {
    return this.machines
      .filter(({ isUp, isDraining }) => isUp && !isDraining)
      .map(({ id, dataCenterId, overlay, gpus }) => ({
        ...{ id, dataCenterId, overlay, online: true, cordoned: false, publicIp: null, cloud: 'SECURE' as const, runtimes: ['docker'] },
        ...{ sharedVolumes: null, runtimeClass: 'runc', requiredClasses: new Map(), heldBy: null, diskGbFree: 1_000 },
        ...{ vcpuTotal: 64, vcpuFree: 64, memoryMbTotal: 262_144, memoryMbFree: 262_144 },
        gpus: [{ typeId: L4, total: gpus, free: gpus - this.heldOn(id), cudaVersion: null }],
      }))
  }

  heldOn(hostId: string): number {
    return [...this.reserved.values()].filter((held) => held.hostId === hostId).length
  }

  /** The object reconciles; it may end between two steps. */
  look(crash: Crash = null): void {
    let left = crash?.after ?? Number.POSITIVE_INFINITY
    for (let round = 0; round < 50 && !this.isDropped; round += 1) {
      if (this.check === null && this.rows.every(({ generation }) => generation === 1))
        this.check = ask(this.members(), this.checkNumber, this.nowMs)
      if (this.check) this.checkNumber = Math.max(this.checkNumber, this.check.number)
      const { steps } = decideCluster(this.state(), this.members(), this.check, [...this.answers.values()], this.nowMs)
      let hasChanged = false
      for (const step of steps) {
        if (left === 0 && crash?.when === 'before') throw new ClusterEnded()
        hasChanged = this.perform(step) || hasChanged
        if (left === 0) throw new ClusterEnded()
        left -= 1
      }
      if (!hasChanged) return
    }
    if (!this.isDropped) throw new Error('the object finds no rest')
  }

  members(): Member[] {
    const live = this.rows.filter(({ status }) => status !== 'TERMINATED')
    return live.map((row) => ({ ...row, hostDraining: this.machines.some(({ id, isDraining }) => id === row.hostId && isDraining) }))
  }

  state(): ClusterState {
    const { isDeleted, onHostLoss, checkNumber } = this
    return { isDeleted, onHostLoss, checkNumber, holdsHosts: this.reserved.size > 0 }
  }

  private perform(step: Step): boolean {
    switch (step.kind) {
      case 'ask':
        this.check = step.check
        return true
      case 'release':
        for (const { id, generation } of step.members)
          this.update(id, (row) => (row.generation === generation ? { readyGeneration: generation } : {}))
        return true
      case 'move':
        return this.move(step.member)
      case 'fail':
        this.decide(step.member.id, (row) =>
          decideReport(row, { generation: row.generation, state: 'error', reason: step.reason, atMs: this.nowMs }, this.nowMs),
        )
        return true
      case 'giveUp':
        this.decide(step.member.id, (row) =>
          row.triedHosts === null ? null : decideGivenUp({ ...row, triedHosts: null }, step.reason, this.nowMs),
        )
        return true
      case 'terminate':
        this.decide(step.member.id, (row) => decideTermination(row, 'deleted', this.nowMs))
        return true
      case 'forget':
        this.isDropped = true
        return true
    }
  }

  private move(member: Member): boolean {
    const others = this.members().filter(({ id }) => id !== member.id)
    const row = this.row(member.id)
    const to = this.hosts().find(
      (host) =>
        host.dataCenterId === row.dataCenterId &&
        takesMember(host, member, others) &&
        (host.gpus[0]?.free ?? 0) > 0 &&
        !this.reserved.has(`${member.id}@${host.id}`),
    )
    if (!to) return false
    this.reserved.set(`${member.id}@${to.id}`, { memberId: member.id, hostId: to.id })
    this.decide(member.id, (now) => {
      const { pod, usage } = decideElsewhere(now, now.hostLost ? now.changedAtMs : this.nowMs, this.nowMs)
      return { pod: { ...pod, hostId: to.id, dataCenterId: to.dataCenterId, triedHosts: triedAfter(member) }, usage }
    })
    return true
  }

  /** A machine carries out its desired state, and reports it. */
  work(machine: Machine): void {
    if (!machine.isUp) return
    for (const row of this.rows) this.workOn(machine, row)
    this.answer(machine)
  }

  private workOn(machine: Machine, row: Row): void {
    const known = [...machine.containers.keys()].filter((key) => key.startsWith(`${row.id}/`)).map((key) => Number(key.split('/')[1]))
    const wanted = desiredContainers(row.hostId === machine.id ? row : null, known)
    for (const { generation, desired, prepare } of wanted) {
      const key = `${row.id}/${generation}`
      const before = machine.containers.get(key)
      if (desired === 'stopped') {
        machine.containers.delete(key)
        this.report(machine, row.id, generation, 'gone')
      } else if (desired === 'held') machine.containers.delete(key)
      else if (machine.refuses.has(row.id) && before !== 'running') this.fail(machine, row.id, generation, key)
      else if (prepare) machine.containers.set(key, 'prepared')
      else if (before !== 'running') this.start(machine, row.id, generation, key)
    }
    const isHere = row.hostId === machine.id && row.status !== 'TERMINATED'
    if (!isHere && ![...machine.containers.keys()].some((key) => key.startsWith(`${row.id}/`)))
      this.reserved.delete(`${row.id}@${machine.id}`)
  }

  private start(machine: Machine, memberId: string, generation: number, key: string): void {
    machine.containers.set(key, 'running')
    this.started.push(key)
    this.report(machine, memberId, generation, 'running')
  }

  private fail(machine: Machine, memberId: string, generation: number, key: string): void {
    machine.containers.set(key, 'failed')
    this.report(machine, memberId, generation, 'error')
  }

  private report(machine: Machine, memberId: string, generation: number, state: 'running' | 'error' | 'gone'): void {
    if (this.row(memberId).hostId !== machine.id) return
    this.decide(memberId, (row) => {
      const change = decideReport(row, { generation, state, reason: state, atMs: this.nowMs }, this.nowMs)
      return change && (change.pod.status === 'RUNNING' ? { ...change, pod: { ...change.pod, triedHosts: null } } : change)
    })
  }

  // Like an agent, answers the newest check once all its members are ready.
  private answer(machine: Machine): void {
    const own = this.members().filter(({ hostId, status, hostLost }) => hostId === machine.id && status !== 'ERROR' && !hostLost)
    if (own.length === 0 || own.some((member) => !machine.containers.has(`${member.id}/${member.generation}`))) return
    const gaps = own.flatMap((member) =>
      this.members()
        .filter((other) => other.hostId !== machine.id && !this.reaches(machine.id, other))
        .map((other) => ({ from: member.id, to: other.id, reason: 'no answer' })),
    )
    const ready = own.filter(({ id }) => !gaps.some(({ from }) => from === id))
    // Members that are lost or in error need not be reached.
    const there = new Set(this.members().flatMap(({ id, status, hostLost }) => (status === 'ERROR' || hostLost ? [] : [id])))
    const met = own.filter(({ id }) => !gaps.some(({ from, to }) => from === id && there.has(to)))
    for (const { id, hostId, generation } of met) this.saidReady.add(`${id}/${hostId}/${generation}`)
    const report = { overlayId: 'c', check: this.checkNumber, ready: ready.map(({ id }) => id), gaps: gaps.slice(0, 64) }
    this.answers.set(machine.id, { hostId: machine.id, report })
  }

  private reaches(from: string, { hostId, id, generation }: Member): boolean {
    const there = this.machines.find((machine) => machine.id === hostId)
    const isBroken = this.broken.has([from, hostId].toSorted().join())
    return there?.isUp === true && !isBroken && there.containers.has(`${id}/${generation}`)
  }

  /** A machine has been silent for so long that it counts as lost; its containers are gone with it. */
  lose(machine: Machine): void {
    machine.isUp = false
    for (const row of this.rows.filter(({ hostId }) => hostId === machine.id)) {
      this.decide(row.id, (now) => decideHostLost(now, 'lost', this.nowMs, this.nowMs))
    }
  }

  /** The machine is back, with the containers that it had. */
  comeBack(machine: Machine): void {
    machine.isUp = true
    for (const row of this.rows.filter(({ hostId, hostLost }) => hostId === machine.id && hostLost)) {
      if (machine.containers.get(`${row.id}/${row.generation}`) === 'running') this.report(machine, row.id, row.generation, 'running')
      // Ready and never started: it continues to wait, and no report says so.
      else if (row.readyGeneration < row.generation) this.decide(row.id, decideWaitsAgain)
    }
  }

  row(id: string): Row {
    const row = this.rows.find((one) => one.id === id)
    if (!row) throw new Error(`no member ${id}`)
    return row
  }

  private decide(id: string, decide: (row: Row) => PodChange<Row> | null): void {
    const change = decide(this.row(id))
    if (change) this.update(id, () => change.pod)
  }

  private update(id: string, change: (row: Row) => Partial<Row>): void {
    this.rows = this.rows.map((row) => (row.id === id ? { ...row, ...change(row) } : row))
  }

  /** Whether the desired state of a member is to run. */
  isLive(row: Row): boolean {
    return isToRun(row)
  }
}
