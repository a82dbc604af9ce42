import { type Action, type ActualWorkload, planActions } from '../../src/host-agent/workloads/reconcile.ts'
import { newRecord, toReport, type WorkloadRecord } from '../../src/host-agent/workloads/records.ts'
import type { Workload, WorkloadReport } from '../../src/host-protocol/messages.ts'
import { hostPatienceMs } from '../../src/host-protocol/silence.ts'
import { type HostNode, SILENCE_MAX_MS } from './fleet.ts'
import { Relay } from './relay.ts'
import { SimWorker } from './sim-worker.ts'
import type { World } from './world.ts'

const BEAT_EVERY_MS = 5_000
const CALL_MS = 10_000

interface Container {
  phase: 'starting' | 'running' | 'stopping' | 'held'
  killAt: number | null
  worker: SimWorker | null
}

/** A machine: containers, which survive the agent; the agent's records and spool, which survive all. */
export class Machine {
  readonly relay: Relay
  private readonly world: World
  private readonly node: HostNode
  private readonly records = new Map<string, WorkloadRecord>()
  private readonly containers = new Map<string, Container>()
  private readonly unacked = new Map<string, WorkloadReport>()
  private readonly sending = new Set<string>()
  /** Null: not received since the agent has started, so nothing is decided. */
  private desired: Workload[] | null = null
  /** The clock of the machine is wrong by this much, and runs at this rate. */
  private readonly clockOffsetMs: number
  private readonly clockRate: number
  private heardMs: number
  isAgentUp = true
  private life = 0

  constructor(world: World, node: HostNode) {
    this.world = world
    this.node = node
    this.clockOffsetMs = world.random.between(-3_600_000, 3_600_000)
    this.clockRate = 1 + (world.random.next() - 0.5) / 1_000
    this.heardMs = this.now()
    this.relay = new Relay(world, node.id, () => this.isAgentUp)
    this.beatLater()
  }

  /** The agent ends; its containers run on, and it starts again after a while. */
  crashAgent(): void {
    if (!this.isAgentUp) return
    this.world.say(`the agent of ${this.node.id} ends`)
    this.isAgentUp = false
    this.life++
    this.sending.clear()
    this.desired = null
    for (const [id, { phase }] of this.containers) {
      if (phase !== 'starting') continue
      this.world.checks.note('an agent ends during a start')
      this.containers.delete(id)
    }
    this.world.after(this.world.random.between(500, 60_000), () => {
      this.world.say(`the agent of ${this.node.id} starts`)
      this.isAgentUp = true
      this.heardMs = this.now()
      this.relay.resume()
    })
  }

  /** The machine starts anew: every container has ended. */
  reboot(): void {
    this.world.say(`${this.node.id} reboots`)
    for (const { worker } of this.containers.values()) worker?.vanish()
    this.containers.clear()
    this.crashAgent()
  }

  restless(): string[] {
    const live = [...this.containers].filter(([, { phase }]) => phase !== 'held').map(([id]) => id)
    return [...live.map((id) => `${this.node.id} runs ${id}`), ...this.relay.restless()]
  }

  private now(): number {
    return Math.round(this.world.nowMs * this.clockRate) + this.clockOffsetMs
  }

  private beatLater(): void {
    this.world.after(BEAT_EVERY_MS + this.world.random.between(-1_000, 1_000), () => {
      if (this.isAgentUp) this.beat()
      this.beatLater()
    })
  }

  private beat(): void {
    const { life } = this
    const sentMs = this.now()
    this.world.network.call<Workload[]>(
      this.node.id,
      CALL_MS,
      (answer) => answer(this.node.beat()),
      (desired) => {
        if (desired === null || life !== this.life || !this.isAgentUp) return
        this.heardMs = Math.max(this.heardMs, sentMs)
        this.desired = desired
        this.reconcile()
      },
    )
    this.fence()
    this.sendReports()
    this.reconcile()
  }

  /** HOST-36: without the plane, a worker is stopped before the plane moves its job. */
  private fence(): void {
    for (const [id, { worker, phase }] of this.containers) {
      if (phase === 'held' || !worker?.job) continue
      const ranMs = Math.max(0, this.heardMs - worker.jobSinceMs)
      if (this.now() - this.heardMs < hostPatienceMs(ranMs, SILENCE_MAX_MS)) continue
      this.world.checks.note('a machine without the plane stops a worker')
      worker.vanish()
      this.ended(id, 137, true)
    }
  }

  private reconcile(): void {
    for (let round = 0; this.isAgentUp && this.desired !== null && round < 10; round++) {
      const actual = new Map<string, ActualWorkload>()
      for (const [id, { phase, killAt }] of this.containers)
        actual.set(id, { phase, runtime: 'docker', ...(killAt !== null && { killAt }) })
      const actions = planActions(this.desired, actual, this.records, this.now())
      if (actions.length === 0) return
      for (const action of actions) this.act(action)
    }
    if (this.isAgentUp && this.desired !== null)
      this.world.checks.fail(`the agent of ${this.node.id} plans the same actions again and again`)
  }

  private act(action: Action): void {
    switch (action.type) {
      case 'start':
        this.start(action.workload)
        break
      case 'cancelStart':
        this.containers.delete(action.id)
        this.record(action.id, { state: 'exited', exitCode: null, reason: 'stopped before it was started', endedByHost: true })
        break
      case 'stop':
        this.stop(action.id, action.graceMs)
        break
      case 'remove':
        this.containers.delete(action.id)
        this.record(action.id, { state: 'gone' })
        break
      case 'reportGone':
        this.record(action.id, { state: 'gone' })
        break
      case 'reportError':
        this.record(action.id, { state: 'error', reason: action.reason, endedByHost: true })
        break
      case 'reportExited':
        this.record(action.id, { state: 'exited', reason: action.reason, endedByHost: true })
        break
      case 'noteAbsent':
      case 'notePresent':
        this.noteAbsence(action.id, action.type === 'noteAbsent')
        break
      default:
        action satisfies never
    }
  }

  private noteAbsence(id: string, isAbsent: boolean): void {
    const known = this.records.get(id)
    if (known) this.records.set(id, { ...known, absentSince: isAbsent ? this.now() : null })
  }

  private start({ id, env }: Workload): void {
    const { life } = this
    const container: Container = { phase: 'starting', killAt: null, worker: null }
    this.containers.set(id, container)
    this.record(id, { state: 'starting' })
    this.world.after(this.world.random.between(200, 8_000), () => {
      if (life !== this.life || this.containers.get(id) !== container) return
      container.phase = 'running'
      const [endpoint = '', workerId = ''] = id.split(/\.(.*)/)
      container.worker = new SimWorker(this.world, {
        relay: this.relay,
        endpoint,
        holder: { workerId, boot: env.boot ?? '' },
        now: () => this.now(),
        exited: (code) => this.ended(id, code, false),
      })
      this.record(id, { state: 'running' })
    })
  }

  private stop(id: string, graceMs: number): void {
    const container = this.containers.get(id)
    if (!container) return
    container.phase = 'stopping'
    container.killAt = this.now() + graceMs
    container.worker?.terminate()
    this.world.after(graceMs, () => {
      if (this.containers.get(id) !== container || container.phase === 'held') return
      container.worker?.vanish()
      this.ended(id, 137, false)
    })
  }

  /** A container has ended. An agent that is down finds it when it starts. */
  private ended(id: string, exitCode: number, endedByHost: boolean): void {
    const container = this.containers.get(id)
    if (!container || container.phase === 'held') return
    container.phase = 'held'
    this.record(id, { state: 'exited', exitCode, ...(endedByHost && { endedByHost }) })
  }

  private record(id: string, change: Partial<WorkloadRecord>): void {
    const known = this.records.get(id) ?? newRecord(id, 'worker')
    const next: WorkloadRecord = { ...known, runtime: 'docker', ...change, sequence: known.sequence + 1, at: this.now() }
    this.records.set(id, next)
    this.unacked.set(id, toReport(next))
    if (this.isAgentUp) this.sendReports()
  }

  private sendReports(): void {
    const { life } = this
    for (const [id, report] of this.unacked) {
      if (this.sending.has(id)) continue
      this.sending.add(id)
      this.world.network.call<boolean>(
        this.node.id,
        CALL_MS,
        (answer) => {
          if (this.node.take(report)) answer(true)
        },
        (isStored) => {
          if (life !== this.life) return
          this.sending.delete(id)
          if (isStored !== null && this.unacked.get(id) === report) this.unacked.delete(id)
        },
      )
    }
  }
}
