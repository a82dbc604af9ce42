import type { Workload } from '../../host-protocol/messages.ts'
import { errorText } from '../../node/fail.ts'
import type { ExecRequest, ExecSession, Place, Runtime, RuntimeWorkload } from '../runtime.ts'
import type { HealthVerdict, Served } from '../tunnel/health-checks.ts'
import { isRetained, type LifecycleDeps, WorkloadLifecycle } from './lifecycle.ts'
import { type Action, planActions } from './reconcile.ts'
import type { WorkloadRecord } from './records.ts'

export interface SupervisorDeps extends LifecycleDeps {
  /** Whether a report of this workload still waits for the plane. */
  isReporting(id: string): boolean
}

/** Ids become file and container names; the plane creates them, but a host does not trust its input. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** A running workload and its runtime. */
interface RunningWorkload {
  id: string
  kind: Workload['kind']
  vcpus: number
  runtime: Runtime
}

/** Reconciles the workloads of this host with the plane's desired state. `planActions` decides; `WorkloadLifecycle` carries out. */
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

  /** Adopts the workloads of a previous agent process; called once, before the first desired state. */
  async adopt(): Promise<void> {
    for (const runtime of this.deps.runtimes) {
      const all = await runtime.list()
      for (const found of all) {
        if (found.problem !== undefined) this.deps.logs.note(found.id, found.problem)
        if (found.phase === 'created') await this.discard(runtime, found.id)
        else this.adoptOne(runtime, found)
      }
      await runtime.sweep().catch((error: unknown) => {
        this.deps.log.warn('leftovers of interrupted starts could not be removed', { runtime: runtime.name, error: errorText(error) })
      })
      this.beginAnew(runtime, new Set(all.map(({ id }) => id)))
    }
    for (const record of this.deps.ledger.records.all()) this.markUnanswered(record)
    this.deps.ledger.repeatAll()
  }

  /**
   * Removes a container that was created and never started: the start of a pod begins again, as if it had been interrupted during the pull.
   */
  private async discard(runtime: Runtime, id: string): Promise<void> {
    try {
      await runtime.remove(id)
    } catch (error) {
      // The other workloads must not wait for it. Its start counts as interrupted.
      this.deps.log.error('leftovers of an interrupted start cannot be removed', { workload: id, error: errorText(error) })
      return
    }
    const record = this.deps.ledger.records.get(id)
    if (record?.state === 'starting' && isRetained(runtime, record)) this.deps.ledger.change(id, { state: 'pulling' })
  }

  /** The same for pods whose container was not created. */
  private beginAnew(runtime: Runtime, found: ReadonlySet<string>): void {
    for (const record of this.deps.ledger.records.all()) {
      const isInterrupted = record.state === 'starting' && record.runtime === runtime.name && !found.has(record.id)
      if (isInterrupted && isRetained(runtime, record)) this.deps.ledger.change(record.id, { state: 'pulling' })
    }
  }

  private adoptOne(runtime: Runtime, { id, phase, ports, startedAtMs }: RuntimeWorkload): void {
    const record = this.deps.ledger.records.get(id)
    if (record === undefined || record.state === 'pulling' || record.state === 'starting') {
      this.deps.ledger.change(id, { runtime: runtime.name, state: 'running', ports }, startedAtMs)
    }
    const isCollected = record !== undefined && ['exited', 'error', 'gone'].includes(record.state)
    if (phase === 'ended' && isCollected && isRetained(runtime, record)) {
      this.lifecycle.hold(runtime, id)
      // The previous process may not have read its output to the end.
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
    this.deps.log.warn('the runtime of a workload does not respond', { workload: id, runtime })
    this.lifecycle.markUnknown(id, runtime)
  }

  /** Applies a desired state; repeated calls are harmless. */
  apply(desired: readonly Workload[]): void {
    if (this.closed) return
    // Only the first of each id counts: a second start of the same id would fail and release the resources of the first.
    const byId = new Map(desired.toReversed().map((workload) => [workload.id, workload]))
    this.desired = desired.filter((workload) => SAFE_ID.test(workload.id) && byId.get(workload.id) === workload)
    for (const workload of this.desired) {
      this.deps.logs.update(workload)
      this.lifecycle.update(workload)
    }
    // Reported again for every desired state that still lists it, in case the plane lost the first report.
    for (const { id } of this.desired.filter((workload) => workload.desired !== 'running')) {
      if (this.deps.ledger.records.get(id)?.state === 'gone' && !this.deps.isReporting(id)) this.deps.ledger.change(id, { state: 'gone' })
    }
    this.reconcile()
  }

  /** Also called by a timer, because unlisted workloads are removed after a delay. */
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

  /** Returns the running workloads with their number of vCPUs (0: all of the machine). */
  running(): RunningWorkload[] {
    return (this.desired ?? []).flatMap(({ id, kind, resources }) => {
      const runtime = this.lifecycle.runtimeOf(id)
      return this.lifecycle.actual.get(id)?.phase === 'running' && runtime !== undefined
        ? [{ id, kind, vcpus: resources.vcpus, runtime }]
        : []
    })
  }

  /** Returns the running workloads that serve requests of the plane. */
  served(): Served[] {
    return (this.desired ?? []).flatMap(({ id, health }) => {
      const isRunning = this.lifecycle.actual.get(id)?.phase === 'running'
      return health !== undefined && isRunning ? [{ id, health, known: this.deps.ledger.records.get(id)?.health }] : []
    })
  }

  /** Returns the account whose share of this host a desired workload uses (SHR-40); undefined when the desired state does not name it. */
  payerOf(id: string): string | undefined {
    const workload = this.desired?.find((one) => one.id === id)
    return workload?.payer ?? workload?.account
  }

  /** Returns the address of a port of a served workload or a running pod; undefined for any other workload. */
  async place(id: string, port: number): Promise<Place | undefined> {
    const isReached = this.runningPod(id) !== undefined || this.served().some((served) => served.id === id)
    return isReached ? await this.lifecycle.runtimeOf(id)?.place(id, port) : undefined
  }

  /** Starts a command in a running pod; undefined for any other workload: owners cannot run commands in workers (HOST-130). */
  exec(id: string, request: ExecRequest): Promise<ExecSession> | undefined {
    return this.runningPod(id)?.runtime.exec(id, request)
  }

  private runningPod(id: string) {
    return this.running().find((workload) => workload.id === id && workload.kind === 'pod')
  }

  /** Records and reports the health of a workload. */
  noteHealth(id: string, { health, reason }: HealthVerdict): void {
    if (this.lifecycle.actual.get(id)?.phase !== 'running') return
    // The time of the state stays that of its start.
    this.deps.ledger.change(id, { state: 'running', health, reason }, this.deps.ledger.records.get(id)?.at)
  }

  /**
   * Returns the ids of the shared volumes that containers of this host have or are about to have; undefined before the first desired state.
   */
  sharedVolumesInUse(): ReadonlySet<string> | undefined {
    const open = this.desired?.filter(({ id, desired }) => desired === 'running' || this.lifecycle.actual.has(id))
    return open && new Set(open.flatMap(({ mounts = [] }) => mounts.flatMap(({ kind, id }) => (kind === 'persistent' ? [] : [id]))))
  }

  /** Returns the ids of all workers on this host, in any phase. */
  workerIds(): string[] {
    return [...this.lifecycle.actual.keys()].filter((id) => this.deps.ledger.records.get(id)?.kind === 'worker')
  }

  /**
   * Stops these workers of a host that has lost its link to the plane. No worker starts before `resumeWorkers`, because the desired state
   * is out of date.
   */
  async pauseWorkers(ids: readonly string[], graceMaxMs: number, reason: string): Promise<void> {
    this.workersPaused = true
    await this.stopEach(ids, graceMaxMs, reason)
  }

  /** The host is linked to the plane again: workers may start. */
  resumeWorkers(): void {
    if (!this.workersPaused) return
    this.workersPaused = false
    this.reconcile()
  }

  /** Stops workloads with a grace period of at most `graceMaxMs` each. */
  private async stopEach(ids: readonly string[], graceMaxMs: number, reason: string): Promise<void> {
    const graceMs = (id: string) => Math.min(graceMaxMs, this.desired?.find((workload) => workload.id === id)?.stopGraceMs ?? graceMaxMs)
    await Promise.all(ids.map((id) => this.lifecycle.stopOrCancel(id, graceMs(id), reason)))
  }

  /** Leaves all workloads to the next agent process. */
  leave(): void {
    this.closed = true
    this.lifecycle.leaveStarts()
  }

  /**
   * Stops all workloads for good. `pods`: with `keep`, ended pods stay for the next agent process (HOST-61); with `remove`, they are
   * removed too, and the plane gets a report that nothing is left on this host.
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
