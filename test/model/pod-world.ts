import type { PodAction } from '../../src/contract/enums.ts'
import {
  type ContainerReport,
  decideAction,
  decideHostLost,
  decideReport,
  type PodState,
  type UsageInterval,
} from '../../src/domain/pod/pod.ts'
import { type DesiredContainer, desiredContainers } from '../../src/domain/pod/workloads.ts'

interface Container {
  startedAtMs: number
  endedAtMs: number | null
}

/**
 * A pod, the plane's copy of its desired state, and a host that carries it out: it starts a container at most once and only when those that
 * it replaces are down, and repeats its reports until they are received. The caller decides how far each lags behind.
 */
export class PodWorld {
  nowMs = 1_000
  pod: PodState
  readonly charged: UsageInterval[] = []
  readonly containers = new Map<number, Container>()
  /** Milliseconds that containers ran while their machine was silent. */
  unheardMs = 0
  private isSilent = false
  private silentSinceMs = 0
  private wishes: DesiredContainer[] = []
  private readonly known = new Set<number>()
  private applied: DesiredContainer[] = []
  private readonly unsaid: ContainerReport[] = []

  constructor(pod: PodState) {
    this.pod = pod
  }

  get live(): number[] {
    return [...this.containers].filter(([, { endedAtMs }]) => endedAtMs === null).map(([generation]) => generation)
  }

  /** Milliseconds that all containers ran so far. */
  get ranMs(): number {
    return [...this.containers.values()].reduce((sum, { startedAtMs, endedAtMs }) => sum + (endedAtMs ?? this.nowMs) - startedAtMs, 0)
  }

  get chargedMs(): number {
    return this.charged.reduce((sum, { startedAtMs, endedAtMs }) => sum + endedAtMs - startedAtMs, 0)
  }

  act(action: PodAction): void {
    const outcome = decideAction(this.pod, action, this.nowMs)
    if (outcome.ok) this.take(outcome.change)
  }

  /** The host object derives the desired state from the row. */
  sync(): void {
    this.wishes = desiredContainers({ ...this.pod, readyGeneration: null }, [...this.known])
    for (const { generation } of this.wishes) this.known.add(generation)
  }

  /** The agent receives the desired state, unless its machine is cut off. */
  send(): void {
    if (!this.isSilent) this.applied = this.wishes
  }

  /** The agent has stopped the containers that were to stop, after any time. */
  stopOld(): void {
    for (const { generation, desired } of this.applied) {
      if (desired !== 'running') this.end(generation, desired === 'stopped' ? 'gone' : 'exited')
    }
  }

  /** The agent starts the containers that may start. */
  startNew(): void {
    for (const { generation, desired, replaces } of this.applied) {
      const isFree = replaces.every((previous) => !this.live.includes(previous))
      if (desired === 'running' && !this.containers.has(generation) && isFree) this.start(generation)
    }
  }

  /** A container ends by itself. */
  endOne(index: number): void {
    const generation = this.live[index % Math.max(1, this.live.length)]
    if (generation !== undefined) this.end(generation, 'exited')
  }

  /** The plane receives the first `count` reports of the agent, some of them twice. */
  hear(count: number, isRepeated = false): void {
    if (this.isSilent) return
    const said = this.unsaid.splice(0, count)
    for (const report of isRepeated ? said.flatMap((one) => [one, one]) : said) {
      this.take(decideReport(this.pod, report, this.nowMs))
      if (report.state === 'gone') this.known.delete(report.generation)
    }
  }

  loseHost(): void {
    if (this.isSilent) return
    ;[this.isSilent, this.silentSinceMs] = [true, this.nowMs]
    this.take(decideHostLost(this.pod, 'its host is silent', this.nowMs, this.nowMs))
  }

  returnHost(): void {
    if (!this.isSilent) return
    this.isSilent = false
    for (const { startedAtMs, endedAtMs } of this.containers.values()) {
      this.unheardMs += Math.max(0, (endedAtMs ?? this.nowMs) - Math.max(startedAtMs, this.silentSinceMs))
    }
    // Running containers are reported again: the plane believes them lost.
    for (const generation of this.live) this.say(generation, 'running')
  }

  private start(generation: number): void {
    this.containers.set(generation, { startedAtMs: this.nowMs, endedAtMs: null })
    this.say(generation, 'starting')
    this.say(generation, 'running')
  }

  private end(generation: number, state: 'exited' | 'gone'): void {
    const container = this.containers.get(generation)
    const isLive = container?.endedAtMs === null
    if (container && isLive) container.endedAtMs = this.nowMs
    if (isLive || (state === 'gone' && this.known.has(generation))) this.say(generation, state)
  }

  private say(generation: number, state: ContainerReport['state']): void {
    this.unsaid.push({ generation, state, reason: null, atMs: this.nowMs })
  }

  private take(change: ReturnType<typeof decideReport<PodState>>): void {
    if (!change) return
    this.pod = change.pod
    if (change.usage) this.charged.push(change.usage)
  }
}
