import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fchownSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { relative } from 'node:path'
import { BUILTIN_NAMES, BUILTIN_PREFIX } from '../../host-protocol/builtin-images.ts'
import type { Workload } from '../../host-protocol/messages.ts'
import { sleep } from '../../node/backoff.ts'
import { errorText, hasCode } from '../../node/fail.ts'
import { identifyProcess, isAlive } from '../../node/process-identity.ts'
import { describeExit } from '../exit-reason.ts'
import { type RelayCallers, relayKeyHash } from '../relay/admission/callers.ts'
import { substituteRelayUrl } from '../relay/url.ts'
import {
  ExecRefused,
  type ExecSession,
  type OutputChunk,
  type Place,
  type Runtime,
  type RuntimeWorkload,
  StartError,
  type Started,
  type StartHooks,
  type WorkloadExit,
} from '../runtime.ts'
import type { Confinement } from './confinement.ts'
import { ProcessOutput } from './output.ts'
import { listProcessRecords, ProcessRecord } from './record.ts'

const POLL_MS = 100
const OUTPUT_POLL_MS = 250
const CHILD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export interface ProcessRuntimeOptions {
  /** Directory for the files of the processes. */
  dir: string
  /** The command that runs a built-in program when `__builtin <name> <exit file>` is appended: the agent's own program. */
  command: readonly [string, ...string[]]
  relayUrl: string
  callers: RelayCallers
  confinement: Confinement
}

/** Built-in programs need little memory; a tenant's load must not make them use more. */
const HEAP_MAX = '--max-old-space-size=256'

/** Variables of an endpoint that built-in programs read. */
const TENANT_VARIABLES: ReadonlySet<string> = new Set(['PROBE_CONCURRENCY'])

/** Runs images named `builtin/…` as child processes, so that a machine without Docker can run jobs. */
export class ProcessRuntime implements Runtime {
  readonly name = 'process'
  readonly keepsDisk = false
  private readonly children = new Map<string, ChildProcess>()
  private readonly closing = new AbortController()
  private readonly options: ProcessRuntimeOptions

  constructor(options: ProcessRuntimeOptions) {
    this.options = options
  }

  canRun(image: string): boolean {
    return image.startsWith(BUILTIN_PREFIX)
  }

  /** Starts a built-in image. Throws a `StartError` for an unknown image, for mounts, and when the process cannot be created. */
  async start(workload: Workload, hooks: StartHooks): Promise<Started> {
    const name = workload.image.slice(BUILTIN_PREFIX.length)
    if (!BUILTIN_NAMES.some((known) => known === name)) {
      const known = BUILTIN_NAMES.map((builtin) => BUILTIN_PREFIX + builtin).join(', ')
      throw new StartError(`unknown built-in image ${workload.image}; known: ${known}`)
    }
    if ((workload.mounts ?? []).length > 0) throw new StartError('built-in images run outside any container and take no mounts')
    hooks.onState('starting')
    const record = new ProcessRecord(this.options.dir, workload.id)
    const user = this.options.confinement.userOf?.(workload.id)
    record.create(user)
    try {
      this.admit(workload, record)
      await this.spawnChild(workload, name, record, user)
      return { ports: [], startedAtMs: Date.now() }
    } catch (error) {
      this.signalGroup(record, 'SIGKILL')
      record.remove()
      this.options.confinement.groups?.remove(workload.id)
      this.options.callers.release(workload.id)
      throw new StartError(
        `could not start ${workload.image}: its process could not be created; see the log of the agent of this host for the cause`,
        errorText(error),
      )
    }
  }

  private admit(workload: Workload, record: ProcessRecord): void {
    const hash = relayKeyHash(workload)
    if (hash === undefined) return
    record.writeRelayKey(hash)
    this.options.callers.admit(workload.id, hash)
  }

  private async spawnChild(workload: Workload, name: string, record: ProcessRecord, user: number | undefined): Promise<void> {
    const { command, confinement } = this.options
    const [program, ...args] = command
    const output = openSync(record.outputPath, 'a', 0o600)
    try {
      if (user !== undefined) fchownSync(output, user, user)
      confinement.groups?.create(workload.id)
      // The path is relative to the working directory: the program's user may be unable to enter the parent directories.
      const child = spawn(program, [HEAP_MAX, ...args, '__builtin', name, relative(record.homeDir, record.exitPath)], {
        cwd: record.homeDir,
        // Its own process group: Ctrl-C at the agent's terminal must not reach workloads, and a stop must reach all processes of one.
        detached: true,
        stdio: ['ignore', output, output],
        env: this.childEnv(workload, record),
        ...(user === undefined ? {} : { uid: user, gid: user }),
      })
      await once(child, 'spawn')
      this.children.set(workload.id, child)
      this.note(workload.id, record, child)
      child.unref()
    } finally {
      closeSync(output)
    }
  }

  private note(id: string, record: ProcessRecord, child: ChildProcess): void {
    if (child.pid === undefined) return
    const identity = identifyProcess(child.pid)
    if (identity !== undefined) record.writeIdentity(identity)
    try {
      this.options.confinement.groups?.enter(id, child.pid)
    } catch (error) {
      // A process that has already ended needs no group.
      if (!hasCode(error, 'ESRCH')) throw new Error(`its control group cannot be used: ${errorText(error)}`)
    }
  }

  /**
   * Never includes the agent's own environment, which may hold the operator's credentials. Includes only those variables of the tenant that
   * built-in programs read: one such as NODE_OPTIONS or LD_PRELOAD would run the tenant's code as the agent's user, outside any container.
   */
  private childEnv(workload: Workload, record: ProcessRecord): Record<string, string> {
    const wanted = Object.entries(workload.env).filter(([name]) => TENANT_VARIABLES.has(name))
    const platform = Object.entries(substituteRelayUrl(workload.platformEnv, this.options.relayUrl)).filter(([name]) =>
      name.startsWith('RUNPOD_'),
    )
    return { ...Object.fromEntries([...wanted, ...platform]), PATH: CHILD_PATH, HOME: record.homeDir, TMPDIR: record.tmpDir }
  }

  async watch(id: string): Promise<WorkloadExit> {
    const record = new ProcessRecord(this.options.dir, id)
    const isWatched = this.children.has(id) || this.isRunning(record)
    const ended = await this.waitForEnd(id, record)
    this.options.callers.release(id)
    const endedAtMs = record.readExitTime()
    // It was killed together with the agent that watched it, or with the machine: there was no time to write the exit file.
    if (!isWatched && ended.exitCode === null)
      return { exitCode: null, reason: 'killed while no agent ran on its host', endedAtMs, byHost: true }
    const reason = describeExit({ ...ended, outOfMemory: false, tail: await record.readOutputTail() })
    return { exitCode: ended.exitCode, reason, endedAtMs }
  }

  private async waitForEnd(id: string, record: ProcessRecord): Promise<{ exitCode: number | null; signal: string | null }> {
    const child = this.children.get(id)
    if (child !== undefined) return await childEnd(child)
    while (this.isRunning(record) && !this.closing.signal.aborted) await sleep(POLL_MS, this.closing.signal)
    // Nothing waits for a closed runtime; the workload continues and the next agent process adopts it.
    if (this.closing.signal.aborted) return await new Promise(() => {})
    const exitCode = record.readExitCode()
    // The exit file is missing only when the program was killed before it could run code at its end.
    return exitCode === null ? { exitCode, signal: 'SIGKILL' } : { exitCode, signal: null }
  }

  async followOutput(id: string, position: unknown, take: (chunk: OutputChunk) => void, signal: AbortSignal): Promise<void> {
    const record = new ProcessRecord(this.options.dir, id)
    const output = new ProcessOutput(record.dir, position, Date.now)
    while (!signal.aborted) {
      // Checked before the read, or output written between the two would be missed.
      const isOver = !this.isRunning(record)
      if (!record.exists()) return
      const chunk = await output.read(isOver)
      if (chunk !== undefined) take(chunk)
      else if (isOver) return
      else await sleep(OUTPUT_POLL_MS, signal)
    }
  }

  async usage(): Promise<undefined> {
    return undefined
  }

  /** Built-in programs serve nothing. */
  async place(): Promise<Place | undefined> {
    return undefined
  }

  /** Always throws `ExecRefused`. */
  async exec(): Promise<ExecSession> {
    throw new ExecRefused('a built-in image has no container to run a command in', { isForGood: true })
  }

  async stop(id: string, graceMs: number): Promise<void> {
    const record = new ProcessRecord(this.options.dir, id)
    this.signalGroup(record, 'SIGTERM')
    const deadline = performance.now() + graceMs
    while (this.isRunning(record) && performance.now() < deadline) await sleep(Math.min(POLL_MS, Math.max(1, graceMs)))
    while (this.isRunning(record)) {
      this.signalGroup(record, 'SIGKILL')
      await sleep(POLL_MS)
    }
  }

  private signalGroup(record: ProcessRecord, signal: 'SIGTERM' | 'SIGKILL'): void {
    const identity = record.readIdentity()
    // Checked at the last moment: the id of a process that has ended may belong to another process.
    if (identity === undefined || !isAlive(identity)) return
    try {
      process.kill(-identity.pid, signal)
    } catch {
      // The process ended between the check and the signal.
    }
  }

  private isRunning(record: ProcessRecord): boolean {
    const identity = record.readIdentity()
    return identity !== undefined && isAlive(identity)
  }

  async remove(id: string): Promise<void> {
    this.children.delete(id)
    this.options.callers.release(id)
    this.options.confinement.groups?.remove(id)
    new ProcessRecord(this.options.dir, id).remove()
  }

  async list(): Promise<RuntimeWorkload[]> {
    return listProcessRecords(this.options.dir).map((record) => {
      const phase = this.phaseOf(record)
      if (phase === 'running') this.options.callers.admit(record.id, record.readRelayKey())
      return { id: record.id, phase, ports: [], startedAtMs: null }
    })
  }

  private phaseOf(record: ProcessRecord): RuntimeWorkload['phase'] {
    if (record.readIdentity() === undefined && !this.children.has(record.id)) return 'created'
    return this.isRunning(record) ? 'running' : 'ended'
  }

  async sweep(): Promise<void> {
    this.options.confinement.groups?.sweep()
  }

  close(): void {
    this.closing.abort()
  }
}

async function childEnd(child: ChildProcess): Promise<{ exitCode: number | null; signal: string | null }> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  const signal = child.signalCode
  return { exitCode: signal === null ? child.exitCode : 128 + constants.signals[signal], signal }
}
