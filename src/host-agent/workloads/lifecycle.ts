import { IMAGE_FORM, isImageReference } from '../../host-protocol/image-reference.ts'
import type { RuntimeName, Workload } from '../../host-protocol/messages.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import type { LogShipper } from '../logs/shipper.ts'
import { type PublishedPort, type Runtime, StartError, type WorkloadExit } from '../runtime.ts'
import type { WorkloadLedger } from './ledger.ts'
import type { ActualWorkload } from './reconcile.ts'
import type { WorkloadRecord } from './records.ts'

export interface LifecycleDeps {
  runtimes: readonly Runtime[]
  ledger: WorkloadLedger
  /** Persistent volumes of this host. */
  volumes: { wipe(id: string): Promise<void> }
  logs: LogShipper
  log: Log
  now(): number
}

/** The start could not be recorded on disk, so it is not carried out. */
class DiskRefusal extends StartError {}

const UNEXPECTED = 'this host could not start it; see the log of its agent for the cause'
const DISK_REFUSES = 'this host cannot write to its own disk, which may be full'
/** Minimum interval before a start that could not be recorded is tried again, whatever else changes. */
const DISK_RETRY_MS = 9_000
const DROP_AFTER_MS = 60_000

interface Tracked extends ActualWorkload {
  start: AbortController
  /** Resolves with the workload as it must be started, once the desired state lets it start. */
  wanted: PromiseWithResolvers<Workload>
  /** Settles when the start has succeeded or failed. */
  started: Promise<void>
  /** Settles when the exit is recorded and everything not retained is removed. */
  ended: Promise<void>
}

/** Carries out actions on single workloads, from start to removal. `onChange` is called when one changes its phase by itself. */
export class WorkloadLifecycle {
  private readonly deps: LifecycleDeps
  private readonly onChange: () => void
  private readonly tracked = new Map<string, Tracked>()
  private readonly stopReasons = new Map<string, string>()
  /** Pods whose start could not be recorded, with the time in ms. */
  private readonly refusedByDisk = new Map<string, number>()

  constructor(deps: LifecycleDeps, onChange: () => void) {
    this.deps = deps
    this.onChange = onChange
  }

  /** The observed phase of each workload, by id. */
  get actual(): ReadonlyMap<string, ActualWorkload> {
    return this.tracked
  }

  /** The runtime of a tracked workload. */
  runtimeOf(id: string): Runtime | undefined {
    const name = this.tracked.get(id)?.runtime
    return this.deps.runtimes.find((candidate) => candidate.name === name)
  }

  private track(id: string, phase: Tracked['phase'], runtime: RuntimeName | null): Tracked {
    const [started, ended] = [Promise.resolve(), Promise.resolve()]
    const tracked: Tracked = { phase, runtime, start: new AbortController(), wanted: Promise.withResolvers(), started, ended }
    this.tracked.set(id, tracked)
    return tracked
  }

  /** Marks a workload whose runtime does not answer. */
  markUnknown(id: string, runtime: RuntimeName): void {
    this.track(id, 'unknown', runtime)
  }

  start(workload: Workload, diskOf: string | null): void {
    this.deps.logs.open(workload)
    // The plane has checked it too, but this text reaches the engine (HOST-66).
    const isReference = isImageReference(workload.image)
    const runtime = isReference ? this.deps.runtimes.find((candidate) => candidate.canRun(workload.image)) : undefined
    if (runtime === undefined) {
      this.refuse(workload, isReference ? noRuntimeText(workload.image) : `image '${workload.image}' is not valid: ${IMAGE_FORM}`)
      return
    }
    if (this.deps.now() - (this.refusedByDisk.get(workload.id) ?? Number.NEGATIVE_INFINITY) < DISK_RETRY_MS) return
    if (!this.deps.ledger.beginStart(workload.id, workload.kind)) {
      this.refuseForDisk(workload)
      return
    }
    const tracked = this.track(workload.id, 'starting', runtime.name)
    this.update(workload)
    tracked.started = this.runStart(runtime, workload, diskOf, tracked)
    void tracked.started.finally(() => this.onChange())
  }

  /** Lets a prepared workload start once the desired state has no `prepare`. */
  update(workload: Workload): void {
    if (workload.prepare !== true && workload.desired === 'running') this.tracked.get(workload.id)?.wanted.resolve(workload)
  }

  private refuse({ id, kind }: Workload, reason: string): void {
    this.deps.ledger.change(id, { kind, state: 'error', reason })
    void this.deps.logs.finish(id, reason)
  }

  /**
   * A pod waits for space on this disk, where it was placed (HOST-73). A worker, and a cluster member that has not started, is refused: it
   * can go to another host.
   */
  private refuseForDisk(workload: Workload): void {
    const { id, kind } = workload
    if (kind === 'worker' || workload.prepare === true) {
      this.refuse(workload, DISK_REFUSES)
      return
    }
    const nowMs = this.deps.now()
    const isFirst = !this.refusedByDisk.has(id)
    for (const [other, atMs] of this.refusedByDisk) if (nowMs - atMs > DROP_AFTER_MS) this.refusedByDisk.delete(other)
    this.refusedByDisk.set(id, nowMs)
    this.deps.ledger.change(id, { kind, runtime: null, state: 'pulling', reason: DISK_REFUSES, attempts: 0 })
    if (isFirst) this.deps.log.warn('a start is delayed: it cannot be written to disk', { workload: id })
  }

  private async runStart(runtime: Runtime, workload: Workload, diskOf: string | null, { start, wanted }: Tracked): Promise<void> {
    const { ledger, logs } = this.deps
    const { id, kind, replaces = [] } = workload
    const { signal } = start
    const source = diskOf !== null && runtime.keepsDisk ? diskOf : null
    if (replaces.length > 0)
      logs.note(id, source === null ? 'starting again with a new container disk' : 'starting again with the kept container disk')
    try {
      const onState = (state: 'pulling' | 'starting') => {
        const isWritten = ledger.change(id, { kind, runtime: runtime.name, state })
        // A start that a later agent process could not know of must not happen.
        if (state === 'starting' && !isWritten) throw new DiskRefusal(DISK_REFUSES)
        if (state === 'starting') logs.note(id, `creating from image ${workload.image}`)
        else if (source === null) logs.note(id, `pulling image ${workload.image}`)
      }
      const previousPorts = replaces.map((previous) => ledger.records.get(previous)?.ports ?? []).find((ports) => ports.length > 0) ?? []
      const { ports, startedAtMs } = await runtime.start(workload, {
        onState,
        signal,
        diskOf: source,
        previousPorts,
        wanted: () => this.awaitWanted(workload, wanted.promise, signal),
      })
      ledger.change(id, { kind, runtime: runtime.name, state: 'running', ports, attempts: 0 }, startedAtMs)
      this.refusedByDisk.delete(id)
      logs.note(id, 'started')
      if (ports.length > 0) logs.note(id, `ports: ${ports.map(portText).join(', ')}`)
      this.follow(runtime, id)
    } catch (error) {
      this.tracked.delete(id)
      // A cancelled start is no error: the next reconciliation reports the workload as stopped.
      if (signal.aborted) ledger.dropStart(id)
      if (signal.aborted) return void logs.finish(id, 'the start was cancelled: the workload was stopped')
      if (error instanceof DiskRefusal) return this.refuseForDisk(workload)
      const refusal = error instanceof StartError ? error : new StartError(UNEXPECTED, errorText(error))
      if (refusal.detail !== undefined) this.deps.log.warn(refusal.message, { workload: id, error: refusal.detail })
      ledger.change(id, { kind, runtime: runtime.name, state: 'error', reason: refusal.message, attempts: 0 })
      void logs.finish(id, refusal.message)
    }
  }

  private async awaitWanted({ id, prepare }: Workload, wanted: Promise<Workload>, signal: AbortSignal): Promise<Workload> {
    if (prepare === true) this.deps.logs.note(id, 'ready; waiting for the other members')
    const givenUp = Promise.withResolvers<never>()
    const giveUp = () => givenUp.reject(new StartError('the workload was stopped'))
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await Promise.race([wanted, givenUp.promise])
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** This agent process ends on purpose: the next one treats starts in progress as if they had not begun (HOST-67). */
  leaveStarts(): void {
    for (const [id, { phase }] of this.tracked) if (phase === 'starting') this.deps.ledger.dropStart(id)
  }

  cancelStart(id: string): void {
    this.tracked.get(id)?.start.abort()
  }

  /** Watches a workload whose main process runs, or has ended without its exit having been recorded. */
  follow(runtime: Runtime, id: string): void {
    this.deps.logs.follow(runtime, id)
    this.track(id, 'running', runtime.name).ended = runtime
      .watch(id)
      .then((exit) => this.collect(runtime, id, exit))
      .catch((error: unknown) => this.deps.log.error('could not watch a workload', { workload: id, error: errorText(error) }))
  }

  /** Tracks an ended workload whose exit is recorded and whose container exists. */
  hold(runtime: Runtime, id: string): void {
    this.track(id, 'held', runtime.name)
  }

  /** The exit is recorded before the container is removed, so that a crash in between loses nothing. */
  private async collect(runtime: Runtime, id: string, exit: WorkloadExit): Promise<void> {
    const record = this.deps.ledger.records.get(id)
    const stopReason = this.stopReasons.get(id)
    const reason = stopReason ?? exit.reason
    // A stop by the agent itself has a stop reason.
    const endedByHost = exit.byHost === true || stopReason !== undefined
    this.stopReasons.delete(id)
    if (record?.state !== 'exited' && record?.state !== 'gone') {
      this.deps.ledger.change(id, { state: 'exited', exitCode: exit.exitCode, reason, endedByHost }, exit.endedAtMs)
    }
    // The output is removed together with the container.
    await this.deps.logs.finish(id, reason)
    if (isRetained(runtime, record) && !exit.vanished) {
      this.hold(runtime, id)
    } else {
      await runtime
        .remove(id)
        .catch((error: unknown) => this.deps.log.warn('could not remove an ended workload', { workload: id, error: errorText(error) }))
      this.tracked.delete(id)
    }
    this.onChange()
  }

  /** Stops a workload; resolves when it has stopped. */
  async stop(id: string, graceMs: number, reason?: string): Promise<void> {
    const tracked = this.tracked.get(id)
    const runtime = this.runtimeOf(id)
    if (tracked === undefined || runtime === undefined || (tracked.phase !== 'running' && tracked.phase !== 'stopping')) return
    const killAt = this.deps.now() + graceMs
    // Only a stop with an earlier deadline replaces one in progress.
    if (tracked.phase === 'stopping' && killAt >= (tracked.killAt ?? 0)) return await tracked.ended
    tracked.phase = 'stopping'
    tracked.killAt = killAt
    if (reason !== undefined) this.stopReasons.set(id, reason)
    if (this.deps.ledger.records.get(id)?.kind === 'pod') this.deps.logs.note(id, `stopping, with ${graceMs / 1000} s of grace`)
    try {
      await runtime.stop(id, graceMs)
      await tracked.ended
    } catch (error) {
      // Back to running, so that the next reconciliation tries again.
      this.deps.log.warn('a stop failed; the agent retries', { workload: id, error: errorText(error) })
      tracked.phase = 'running'
    }
  }

  /** Stops a workload, or cancels its start if that is in progress. */
  async stopOrCancel(id: string, graceMs: number, reason: string): Promise<void> {
    this.cancelStart(id)
    await this.tracked.get(id)?.started
    await this.stop(id, graceMs, reason)
  }

  /** Removes the container of an ended workload, then the persistent volumes `wipe`, and reports the workload gone. */
  async remove(id: string, wipe: readonly string[]): Promise<void> {
    const runtime = this.runtimeOf(id)
    const previous = this.tracked.get(id)
    this.track(id, 'removing', previous?.runtime ?? null)
    try {
      await runtime?.remove(id)
      for (const volume of wipe) await this.deps.volumes.wipe(volume)
    } catch (error) {
      this.deps.log.warn('could not remove an ended workload; the agent retries', { workload: id, error: errorText(error) })
      if (previous === undefined) this.tracked.delete(id)
      else this.tracked.set(id, previous)
      return
    }
    this.tracked.delete(id)
    this.deps.ledger.change(id, { state: 'gone', ...(wipe.length > 0 ? { wiped: true } : {}) })
    void this.deps.logs.finish(id, 'removed from this host')
    this.onChange()
  }
}

/** A pod's container is retained when it ends, until the desired state says otherwise: it contains the pod's files (HOST-50). */
export function isRetained(runtime: Runtime, record: WorkloadRecord | undefined): boolean {
  return runtime.keepsDisk && record?.kind !== 'worker'
}

function noRuntimeText(image: string): string {
  const cause = image.startsWith('builtin/') ? 'the process runtime is off' : 'Docker does not answer'
  return `no runtime on this host can run image '${image}': ${cause}`
}

function portText(port: PublishedPort): string {
  return `${port.private}/${port.type} on ${port.public}`
}
