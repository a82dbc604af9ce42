import type { Workload } from '../host-protocol/messages.ts'
import { errorText } from './fail.ts'
import type { Log } from './log.ts'
import type { LogShipper } from './log-shipper.ts'
import { type Action, type ActualWorkload, planActions } from './reconcile.ts'
import { type Runtime, StartError, type WorkloadExit } from './runtime.ts'
import type { WorkloadLedger } from './workload-ledger.ts'
import type { WorkloadRecord } from './workload-records.ts'

export interface SupervisorDeps {
  runtimes: readonly Runtime[]
  ledger: WorkloadLedger
  /** Whether a report of this workload still waits for the plane. */
  isReporting(id: string): boolean
  logs: LogShipper
  log: Log
  now(): number
}

/** Ids become file and container names; the plane makes them, but a host does not trust its input. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

const VANISHED = 'disappeared from this host; somebody or something removed it'

interface Tracked extends ActualWorkload {
  start: AbortController
  /** Settles when the start succeeded or failed. */
  started: Promise<void>
  /** Settles when the exit was captured and the remains removed. */
  ended: Promise<void>
}

/** Makes reality match the plane's snapshot. Decisions are in `planActions`; here they are carried out, one at a time per workload. */
export class Supervisor {
  private readonly deps: SupervisorDeps
  private readonly tracked = new Map<string, Tracked>()
  private readonly stopReasons = new Map<string, string>()
  private desired: readonly Workload[] | undefined
  private closed = false

  constructor(deps: SupervisorDeps) {
    this.deps = deps
  }

  /** Picks up what a former agent process left behind; to be called once, before the first snapshot. */
  async adopt(): Promise<void> {
    for (const runtime of this.deps.runtimes) {
      for (const found of await runtime.list()) {
        if (found.phase === 'created') await runtime.remove(found.id)
        else this.adoptOne(runtime, found.id)
      }
    }
    for (const record of this.deps.ledger.records.all()) this.markUnanswered(record)
  }

  private adoptOne(runtime: Runtime, id: string): void {
    const record = this.deps.ledger.records.get(id)
    if (record === undefined || record.state === 'pulling' || record.state === 'starting') {
      this.deps.ledger.change(id, { runtime: runtime.name, state: 'running' })
    }
    this.deps.log.info('adopted a workload', { workload: id, runtime: runtime.name })
    this.follow(runtime, id)
  }

  private markUnanswered(record: WorkloadRecord): void {
    const answers = this.deps.runtimes.some((runtime) => runtime.name === record.runtime)
    if (answers || record.runtime === null || (record.state !== 'running' && record.state !== 'starting')) return
    this.deps.log.warn('the runtime of a workload does not answer', { workload: record.id, runtime: record.runtime })
    this.tracked.set(record.id, { phase: 'unknown', runtime: record.runtime, ...settled() })
  }

  /** Takes a snapshot; repeats are free. */
  apply(desired: readonly Workload[]): void {
    if (this.closed) return
    this.desired = desired.filter(({ id }) => SAFE_ID.test(id))
    for (const workload of this.desired) this.deps.logs.learn(workload)
    // Said again with every snapshot that still lists it, in case the plane lost the first report.
    for (const { id } of this.desired.filter((workload) => workload.desired === 'stopped')) {
      if (this.deps.ledger.records.get(id)?.state === 'gone' && !this.deps.isReporting(id)) this.deps.ledger.change(id, { state: 'gone' })
    }
    this.reconcile()
  }

  /** Also called by a timer, because the removal of workloads that the plane does not list is due by time. */
  reconcile(): void {
    if (this.desired === undefined || this.closed) return
    const actions = planActions(this.desired, this.tracked, this.deps.ledger.records.map(), this.deps.now())
    for (const action of actions) this.perform(action)
  }

  private perform(action: Action): void {
    switch (action.type) {
      case 'start':
        this.start(action.workload)
        break
      case 'cancelStart':
        this.tracked.get(action.id)?.start.abort()
        break
      case 'stop':
        void this.stop(action.id, action.graceMs)
        break
      case 'reportGone':
        this.deps.ledger.change(action.id, { state: 'gone' })
        void this.deps.logs.finish(action.id, 'removed from this host')
        break
      case 'reportError':
        this.deps.ledger.change(action.id, { state: 'error', reason: action.reason })
        void this.deps.logs.finish(action.id, action.reason)
        break
      case 'reportVanished':
        this.deps.ledger.change(action.id, { state: 'exited', reason: VANISHED })
        void this.deps.logs.finish(action.id, VANISHED)
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

  private start(workload: Workload): void {
    this.deps.logs.open(workload)
    const runtime = this.deps.runtimes.find((candidate) => candidate.canRun(workload.image))
    if (runtime === undefined) {
      this.refuse(workload)
      return
    }
    const tracked: Tracked = { phase: 'starting', runtime: runtime.name, ...settled() }
    this.tracked.set(workload.id, tracked)
    tracked.started = this.runStart(runtime, workload, tracked.start.signal)
    void tracked.started.finally(() => this.reconcile())
  }

  private refuse(workload: Workload): void {
    const cause = workload.image.startsWith('builtin/') ? 'the process runtime is off' : 'Docker does not answer'
    const reason = `no runtime on this host can run image '${workload.image}': ${cause}`
    this.deps.ledger.change(workload.id, { kind: workload.kind, state: 'error', reason })
    void this.deps.logs.finish(workload.id, reason)
  }

  private async runStart(runtime: Runtime, workload: Workload, signal: AbortSignal): Promise<void> {
    const { id, kind } = workload
    try {
      const onState = (state: 'pulling' | 'starting') => {
        this.deps.ledger.change(id, { kind, runtime: runtime.name, state })
        this.deps.logs.note(id, state === 'pulling' ? `pulling image ${workload.image}` : `creating from image ${workload.image}`)
      }
      const { ports } = await runtime.start(workload, { onState, signal })
      this.deps.ledger.change(id, { kind, runtime: runtime.name, state: 'running', ports })
      this.deps.logs.note(id, 'started')
      this.follow(runtime, id)
    } catch (error) {
      this.tracked.delete(id)
      // A cancelled start is no error: the plane wants it gone, and the next reconciliation reports that.
      if (signal.aborted) return void this.deps.logs.finish(id, 'the start was given up: it is not wanted any more')
      if (!(error instanceof StartError)) this.deps.log.error('a start failed unexpectedly', { workload: id, error: errorText(error) })
      this.deps.ledger.change(id, { kind, runtime: runtime.name, state: 'error', reason: errorText(error) })
      void this.deps.logs.finish(id, errorText(error))
    }
  }

  private follow(runtime: Runtime, id: string): void {
    this.deps.logs.follow(runtime, id)
    const ended = runtime
      .watch(id)
      .then((exit) => this.collect(runtime, id, exit))
      .catch((error: unknown) => this.deps.log.error('lost track of a workload', { workload: id, error: errorText(error) }))
    this.tracked.set(id, { phase: 'running', runtime: runtime.name, ...settled(), ended })
  }

  /** The exit is recorded before the remains are removed, so that a crash in between loses nothing. */
  private async collect(runtime: Runtime, id: string, exit: WorkloadExit): Promise<void> {
    const known = this.deps.ledger.records.get(id)?.state
    const reason = this.stopReasons.get(id) ?? exit.reason
    this.stopReasons.delete(id)
    if (known !== 'exited' && known !== 'gone') this.deps.ledger.change(id, { state: 'exited', exitCode: exit.exitCode, reason })
    // The output goes with the remains.
    await this.deps.logs.finish(id, reason)
    await runtime
      .remove(id)
      .catch((error: unknown) => this.deps.log.warn('could not remove an ended workload', { workload: id, error: errorText(error) }))
    this.tracked.delete(id)
    this.reconcile()
  }

  private async stop(id: string, graceMs: number, reason?: string): Promise<void> {
    const tracked = this.tracked.get(id)
    const runtime = this.deps.runtimes.find((candidate) => candidate.name === tracked?.runtime)
    if (tracked === undefined || runtime === undefined) return
    const killAt = this.deps.now() + graceMs
    // A stop under way is overtaken only by one with less grace left.
    if (tracked.phase === 'stopping' && killAt >= (tracked.killAt ?? 0)) return await tracked.ended
    tracked.phase = 'stopping'
    tracked.killAt = killAt
    if (reason !== undefined) this.stopReasons.set(id, reason)
    try {
      await runtime.stop(id, graceMs)
      await tracked.ended
    } catch (error) {
      // Level-triggered: back to running, and the next reconciliation tries again.
      this.deps.log.warn('a stop failed and is tried again', { workload: id, error: errorText(error) })
      tracked.phase = 'running'
    }
  }

  /** Stops what `matches`, with at most `graceMaxMs` of grace each. */
  async stopAll(graceMaxMs: number, reason: string, matches: (record: WorkloadRecord | undefined) => boolean = () => true): Promise<void> {
    const graceMs = (id: string) => Math.min(graceMaxMs, this.desired?.find((workload) => workload.id === id)?.stopGraceMs ?? graceMaxMs)
    const ids = [...this.tracked.keys()].filter((id) => matches(this.deps.ledger.records.get(id)))
    await Promise.all(
      ids.map(async (id) => {
        const starting = this.tracked.get(id)
        starting?.start.abort()
        await starting?.started
        await this.stop(id, graceMs(id), reason)
      }),
    )
  }

  /** Stops everything for good, and tells the plane that nothing is held here any more. */
  async shutDown(graceMaxMs: number, reason: string): Promise<void> {
    this.closed = true
    await this.stopAll(graceMaxMs, reason)
    for (const { id } of this.deps.ledger.held()) if (!this.tracked.has(id)) this.deps.ledger.change(id, { state: 'gone' })
  }
}

function settled(): Pick<Tracked, 'start' | 'started' | 'ended'> {
  return { start: new AbortController(), started: Promise.resolve(), ended: Promise.resolve() }
}
