import type { Workload } from '../../host-protocol/messages.ts'
import { errorText } from '../../node/fail.ts'
import type { ExecRequest, ExecSession, Place, Runtime, RuntimeWorkload } from '../runtime.ts'
import type { HealthVerdict, Served } from '../tunnel/health-checks.ts'
import { isKept, type LifecycleDeps, WorkloadLifecycle } from './lifecycle.ts'
import { type Action, planActions } from './reconcile.ts'
import type { WorkloadRecord } from './records.ts'

export interface SupervisorDeps extends LifecycleDeps {
  /** Whether a report of this workload still waits for the plane. */
  isReporting(id: string): boolean
}

/** Ids become file and container names; the plane makes them, but a host does not trust its input. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** A workload that runs here, and what runs it. */
interface RunningWorkload {
  id: string
  kind: Workload['kind']
  vcpus: number
  runtime: Runtime
}

/** Makes reality match the plane's snapshot. Decisions are in `planActions`; `WorkloadLifecycle` carries them out. */
export class Supervisor {
  private readonly deps: SupervisorDeps
  private readonly lifecycle: WorkloadLifecycle
  private desired: readonly Workload[] | undefined
  private closed = false
  private workersPaused = false

  constructor(deps: SupervisorDeps) {
    this.deps = deps
    this.lifecycle = new WorkloadLifecycle(deps, () => this.reconcile())
  }

  /** Picks up what a former agent process left behind; to be called once, before the first snapshot. */
  async adopt(): Promise<void> {
    for (const runtime of this.deps.runtimes) {
      const all = await runtime.list()
      for (const found of all) {
        if (found.problem !== undefined) this.deps.logs.note(found.id, found.problem)
        if (found.phase === 'created') await this.discard(runtime, found.id)
        else this.adoptOne(runtime, found)
      }
      await runtime.sweep().catch((error: unknown) => {
        this.deps.log.warn('what interrupted starts left could not be removed', { runtime: runtime.name, error: errorText(error) })
      })
      this.beginAnew(runtime, new Set(all.map(({ id }) => id)))
    }
    for (const record of this.deps.ledger.records.all()) this.markUnanswered(record)
    this.deps.ledger.repeatAll()
  }

  /** A container that was made and never started: the start of a pod begins anew, as if it had ended while the image was pulled. */
  private async discard(runtime: Runtime, id: string): Promise<void> {
    try {
      await runtime.remove(id)
    } catch (error) {
      // Others are not to wait for it. Its start counts as interrupted.
      this.deps.log.error('what an interrupted start left cannot be removed', { workload: id, error: errorText(error) })
      return
    }
    const record = this.deps.ledger.records.get(id)
    if (record?.state === 'starting' && isKept(runtime, record)) this.deps.ledger.change(id, { state: 'pulling' })
  }

  /** The same for pods whose container was not even made. */
  private beginAnew(runtime: Runtime, found: ReadonlySet<string>): void {
    for (const record of this.deps.ledger.records.all()) {
      const isInterrupted = record.state === 'starting' && record.runtime === runtime.name && !found.has(record.id)
      if (isInterrupted && isKept(runtime, record)) this.deps.ledger.change(record.id, { state: 'pulling' })
    }
  }

  private adoptOne(runtime: Runtime, { id, phase, ports, startedAtMs }: RuntimeWorkload): void {
    const record = this.deps.ledger.records.get(id)
    if (record === undefined || record.state === 'pulling' || record.state === 'starting') {
      this.deps.ledger.change(id, { runtime: runtime.name, state: 'running', ports }, startedAtMs)
    }
    const isCollected = record !== undefined && ['exited', 'error', 'gone'].includes(record.state)
    if (phase === 'ended' && isCollected && isKept(runtime, record)) {
      this.lifecycle.hold(runtime, id)
      // The former process may not have come to the end of its output.
      this.deps.logs.follow(runtime, id)
      void this.deps.logs.finish(id, record.reason ?? 'ended')
      return
    }
    this.deps.log.info('adopted a workload', { workload: id, runtime: runtime.name })
    this.lifecycle.follow(runtime, id)
  }

  private markUnanswered({ id, runtime, state, kind }: WorkloadRecord): void {
    const answers = this.deps.runtimes.some(({ name }) => name === runtime)
    const mayExist = state === 'running' || state === 'starting' || (state === 'exited' && kind === 'pod')
    if (answers || runtime === null || !mayExist) return
    this.deps.log.warn('the runtime of a workload does not answer', { workload: id, runtime })
    this.lifecycle.markUnknown(id, runtime)
  }

  /** Takes a snapshot; repeats are free. */
  apply(desired: readonly Workload[]): void {
    if (this.closed) return
    // The first of each id: of two starts of one the second would fail and give away what the first holds.
    const byId = new Map(desired.toReversed().map((workload) => [workload.id, workload]))
    this.desired = desired.filter((workload) => SAFE_ID.test(workload.id) && byId.get(workload.id) === workload)
    for (const workload of this.desired) {
      this.deps.logs.learn(workload)
      this.lifecycle.want(workload)
    }
    // Said again with every snapshot that still lists it, in case the plane lost the first report.
    for (const { id } of this.desired.filter((workload) => workload.desired !== 'running')) {
      if (this.deps.ledger.records.get(id)?.state === 'gone' && !this.deps.isReporting(id)) this.deps.ledger.change(id, { state: 'gone' })
    }
    this.reconcile()
  }

  /** Also called by a timer, because the removal of workloads that the plane does not list is due by time. */
  reconcile(): void {
    this.deps.ledger.records.flush()
    if (this.desired === undefined || this.closed) return
    const listed = new Set(this.desired.map(({ id }) => id))
    this.deps.ledger.records.prune(this.deps.now(), (id) => listed.has(id) || this.lifecycle.actual.has(id))
    const actions = planActions(this.desired, this.lifecycle.actual, this.deps.ledger.records.map(), this.deps.now())
    for (const action of actions) this.perform(action)
  }

  private perform(action: Action): void {
    switch (action.type) {
      case 'start':
        if (this.workersPaused && action.workload.kind === 'worker') break
        this.lifecycle.start(action.workload, action.diskOf)
        break
      case 'cancelStart':
        this.lifecycle.cancelStart(action.id)
        break
      case 'stop':
        void this.lifecycle.stop(action.id, action.graceMs)
        break
      case 'remove':
        void this.lifecycle.remove(action.id, action.wipe)
        break
      case 'reportGone':
        this.deps.ledger.change(action.id, { state: 'gone' })
        void this.deps.logs.finish(action.id, 'removed from this host')
        break
      case 'reportError':
        this.deps.ledger.change(action.id, { state: 'error', reason: action.reason })
        void this.deps.logs.finish(action.id, action.reason)
        break
      case 'reportExited':
        this.deps.ledger.change(action.id, { state: 'exited', reason: action.reason })
        void this.deps.logs.finish(action.id, action.reason)
        break
      case 'noteAbsent':
        this.deps.ledger.change(action.id, { absentSince: this.deps.now() })
        break
      case 'notePresent':
        this.deps.ledger.change(action.id, { absentSince: null })
        break
      default:
        action satisfies never
    }
  }

  /** Workloads that run, with the CPUs that each was promised (0: as many as there are). */
  running(): RunningWorkload[] {
    return (this.desired ?? []).flatMap(({ id, kind, resources }) => {
      const { phase, runtime: name } = this.lifecycle.actual.get(id) ?? {}
      const runtime = this.deps.runtimes.find((candidate) => candidate.name === name)
      return phase === 'running' && runtime !== undefined ? [{ id, kind, vcpus: resources.vcpus, runtime }] : []
    })
  }

  /** Workloads that run and serve requests of the plane. */
  served(): Served[] {
    return (this.desired ?? []).flatMap(({ id, health }) => {
      const isRunning = this.lifecycle.actual.get(id)?.phase === 'running'
      return health !== undefined && isRunning ? [{ id, health, known: this.deps.ledger.records.get(id)?.health }] : []
    })
  }

  /** Whose share of this host a workload takes that the plane wants here (SHR-40); undefined where it does not say. */
  payerOf(id: string): string | undefined {
    const workload = this.desired?.find((one) => one.id === id)
    return workload?.payer ?? workload?.account
  }

  /** Where a port of one of those, or of a pod that runs, is reached; undefined for any other workload. */
  async place(id: string, port: number): Promise<Place | undefined> {
    const name = this.lifecycle.actual.get(id)?.runtime
    const isReached = this.runningPod(id) !== undefined || this.served().some((served) => served.id === id)
    return isReached ? await this.deps.runtimes.find((candidate) => candidate.name === name)?.place(id, port) : undefined
  }

  /** Starts a command in a pod that runs; undefined for any other workload: no worker's owner asks for one (HOST-130). */
  exec(id: string, request: ExecRequest): Promise<ExecSession> | undefined {
    return this.runningPod(id)?.runtime.exec(id, request)
  }

  private runningPod(id: string) {
    return this.running().find((workload) => workload.id === id && workload.kind === 'pod')
  }

  /** Notes what a workload has said of its health, and tells the plane. */
  noteHealth(id: string, { health, reason }: HealthVerdict): void {
    if (this.lifecycle.actual.get(id)?.phase !== 'running') return
    // It came into this state when it started, and no later.
    this.deps.ledger.change(id, { state: 'running', health, reason }, this.deps.ledger.records.get(id)?.at)
  }

  /** Ids of the shared volumes that containers of this host have, or are about to have; undefined before the plane has said what is to run. */
  sharedVolumesInUse(): ReadonlySet<string> | undefined {
    const open = this.desired?.filter(({ id, desired }) => desired === 'running' || this.lifecycle.actual.has(id))
    return open && new Set(open.flatMap(({ mounts = [] }) => mounts.flatMap(({ kind, id }) => (kind === 'persistent' ? [] : [id]))))
  }

  /** Workers that are here, whatever becomes of them. */
  workerIds(): string[] {
    return [...this.lifecycle.actual.keys()].filter((id) => this.deps.ledger.records.get(id)?.kind === 'worker')
  }

  /** Stops these workers of a host that has lost touch with the plane. None is started before `resumeWorkers`: the snapshot is out of date. */
  async pauseWorkers(ids: readonly string[], graceMaxMs: number, reason: string): Promise<void> {
    this.workersPaused = true
    await this.stopEach(ids, graceMaxMs, reason)
  }

  /** The host is in touch with the plane. */
  resumeWorkers(): void {
    if (!this.workersPaused) return
    this.workersPaused = false
    this.reconcile()
  }

  /** With at most `graceMaxMs` of grace each. */
  private async stopEach(ids: readonly string[], graceMaxMs: number, reason: string): Promise<void> {
    const graceMs = (id: string) => Math.min(graceMaxMs, this.desired?.find((workload) => workload.id === id)?.stopGraceMs ?? graceMaxMs)
    await Promise.all(ids.map((id) => this.lifecycle.stopOrCancel(id, graceMs(id), reason)))
  }

  /** Leaves everything to the next agent process. */
  leave(): void {
    this.closed = true
    this.lifecycle.leaveStarts()
  }

  /**
   * Stops everything for good. `keep`: pods stay as they ended, for the next agent process (HOST-61); otherwise they are removed too, and the
   * plane is told that nothing is held here any more.
   */
  async shutDown(graceMaxMs: number, reason: string, pods: 'keep' | 'remove'): Promise<void> {
    this.closed = true
    await this.stopEach([...this.lifecycle.actual.keys()], graceMaxMs, reason)
    const kept = [...this.lifecycle.actual].filter(([, { phase }]) => phase === 'held')
    if (pods === 'remove') await Promise.all(kept.map(([id]) => this.lifecycle.remove(id, [])))
    for (const { id, kind } of this.deps.ledger.held()) {
      const isLeft = this.lifecycle.actual.has(id) || (pods === 'keep' && kind === 'pod')
      if (!isLeft) this.deps.ledger.change(id, { state: 'gone' })
    }
  }
}
