/**
 * The required state of a pod, from the facts and the rules alone (POD-13 to POD-15, POD-19, POD-23, P8). It imports nothing of the
 * platform and is built another way: a pod is a row of containers, each with its known facts, and status, charge and actions follow from
 * the last one. `received` is the time at which the plane receives a fact, `at` the time at which it happened according to the host.
 */
export type PodFact =
  | { kind: 'asked'; action: 'start' | 'stop' | 'restart' | 'terminate'; told: number }
  | { kind: 'changed'; told: number }
  | { kind: 'locked'; locked: boolean }
  | { kind: 'said'; container: number; what: 'pulling' | 'starting' | 'running' | 'exited' | 'error' | 'gone'; at: number; told: number }
  | { kind: 'lost' | 'moved'; lastHeard: number; told: number }
  /** The machine was silent since `lastHeard`, and has just reported again. */
  | { kind: 'heard again'; lastHeard: number; told: number }

interface Container {
  /** Its host has reported something of it, or it follows another container of a pod that was past PROVISIONING. */
  isUnderWay: boolean
  runningSince: number | null
  chargedSince: number | null
  /** Why it is not to run any more; null while it is to run. */
  end: 'asked' | 'ended' | 'failed' | null
  isHostSilent: boolean
}

export class PodOracle {
  readonly containers: Container[] = [{ isUnderWay: false, runningSince: null, chargedSince: null, end: null, isHostSilent: false }]
  readonly charged: { startedAtMs: number; endedAtMs: number }[] = []
  isTerminated = false
  isLocked = false
  /** Whether the next container must not use the disk of the last one. */
  isDiskLost = false
  goesOnWithDisk = false
  private lastMoment: number

  constructor(createdAtMs: number) {
    this.lastMoment = createdAtMs
  }

  private get last(): Container {
    const last = this.containers.at(-1)
    if (!last) throw new Error('a pod has a container')
    return last
  }

  get status(): string {
    const { isUnderWay, chargedSince, end, isHostSilent } = this.last
    if (this.isTerminated) return 'TERMINATED'
    if (end !== null) return end === 'failed' ? 'ERROR' : 'EXITED'
    if (isHostSilent) return 'ERROR'
    if (chargedSince !== null) return 'RUNNING'
    return isUnderWay ? 'STARTING' : 'PROVISIONING'
  }

  get actions(): string[] {
    if (this.isTerminated) return []
    const isLive = this.last.end === null && !this.last.isHostSilent
    const live = ['stop', ...(this.status === 'RUNNING' ? ['restart'] : [])]
    return [...(isLive ? live.filter(() => !this.isLocked) : ['start']), 'terminate']
  }

  /** The container's own start, also while its host is lost. */
  get runningSince(): number | null {
    return this.isWanted ? this.last.runningSince : null
  }

  get chargedSince(): number | null {
    return this.last.chargedSince
  }

  /** Whether its container is to run somewhere. */
  get isWanted(): boolean {
    return !this.isTerminated && this.last.end === null
  }

  tell(fact: PodFact): void {
    if (fact.kind === 'locked') this.isLocked = fact.locked
    else if (fact.kind === 'asked') this.ask(fact.action, fact.told)
    else if (fact.kind === 'changed') this.change(fact.told)
    else if (fact.kind === 'said') this.hear(fact)
    else if (fact.kind === 'lost') this.lose(fact.lastHeard, fact.told)
    else if (fact.kind === 'heard again') this.excuse(fact.lastHeard, fact.told)
    else this.move(fact.lastHeard, fact.told)
  }

  private ask(action: string, received: number): void {
    if (!this.actions.includes(action)) return
    this.stopCharging(received)
    this.moment(received)
    if (action === 'terminate') this.isTerminated = true
    else if (action === 'stop') this.last.end = 'asked'
    else this.nextContainer(action === 'start' && !this.isDiskLost)
  }

  private change(received: number): void {
    if (this.isWanted) {
      const { isHostSilent } = this.last
      this.stopCharging(received)
      this.moment(received)
      this.nextContainer(false)
      // A silent machine makes the new container when it is back.
      this.last.isHostSilent = isHostSilent
    }
    this.isDiskLost = true
  }

  private lose(lastHeard: number, received: number): void {
    if (!this.isWanted || this.last.isHostSilent) return
    const when = this.believed(lastHeard, received)
    this.stopCharging(when)
    this.moment(when)
    this.last.isHostSilent = true
  }

  // The container kept running: only the time without reports is not charged.
  private excuse(lastHeard: number, received: number): void {
    const { chargedSince } = this.last
    if (this.status !== 'RUNNING' || chargedSince === null || chargedSince >= received) return
    if (lastHeard > chargedSince) this.charged.push({ startedAtMs: chargedSince, endedAtMs: lastHeard })
    this.last.chargedSince = received
    this.moment(received)
  }

  private move(lastHeard: number, received: number): void {
    if (!this.isWanted) return
    this.stopCharging(this.believed(lastHeard, received))
    this.moment(received)
    this.nextContainer(false)
  }

  private hear({ container, what, at, told: received }: Extract<PodFact, { kind: 'said' }>): void {
    if (container !== this.containers.length || this.isTerminated) return
    if (what === 'gone') this.isDiskLost = true
    if (this.last.end !== null) return
    const when = this.believed(at, received)
    if (what === 'pulling' || what === 'starting') {
      if (!this.last.isUnderWay && !this.last.isHostSilent) this.moment(when)
      if (!this.last.isHostSilent) this.last.isUnderWay = true
    } else if (what === 'running') this.runs(when, received)
    else {
      this.stopCharging(when)
      this.moment(when)
      this.last.end = what === 'error' ? 'failed' : 'ended'
      this.last.isHostSilent = false
    }
  }

  private runs(when: number, received: number): void {
    if (this.last.chargedSince !== null) return
    // The time in which the machine was silent is not charged, although the container ran.
    this.last.chargedSince = this.last.isHostSilent ? this.believed(received, received) : when
    this.last.runningSince ??= when
    this.moment(this.last.chargedSince)
    this.last.isUnderWay = true
    this.last.isHostSilent = false
    this.isDiskLost = false
  }

  private nextContainer(goesOnWithDisk: boolean): void {
    this.goesOnWithDisk = goesOnWithDisk
    this.isDiskLost = !goesOnWithDisk
    this.containers.push({ isUnderWay: true, runningSince: null, chargedSince: null, end: null, isHostSilent: false })
  }

  // A host is believed in whole milliseconds, no further than now and no earlier than what is known to have happened.
  private believed(at: number, received: number): number {
    return Math.max(this.lastMoment, Math.floor(at < received ? at : received))
  }

  private moment(when: number): void {
    this.lastMoment = Math.max(this.lastMoment, when)
  }

  private stopCharging(when: number): void {
    const { chargedSince } = this.last
    if (chargedSince === null) return
    this.charged.push({ startedAtMs: chargedSince, endedAtMs: Math.max(chargedSince, when) })
    this.last.chargedSince = null
  }
}
