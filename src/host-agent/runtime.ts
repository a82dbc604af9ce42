import type { Workload, WorkloadReport } from '../host-protocol/messages.ts'
import type { Signal } from '../host-protocol/tunnel/channels.ts'

export type RuntimeName = 'docker' | 'process'
export type PublishedPort = NonNullable<WorkloadReport['ports']>[number]

/** Where a port of a workload is reached from this machine. */
export interface Place {
  host: string
  port: number
}

export interface WorkloadExit {
  /** By the shell's convention 128 + n when signal n ended it; null when nobody can tell any more. */
  exitCode: number | null
  reason: string
  /** By this machine's clock; null when nobody can tell any more. */
  endedAtMs: number | null
  /** Its host, its engine or a person on the machine ended it, or its end was not observed (LSE-21). */
  byHost?: boolean
  /** Nothing is left of it. */
  vanished?: boolean
}

/** A workload of this agent that a runtime holds something for: a container or process, running or ended. */
export interface RuntimeWorkload {
  id: string
  /** `created`: prepared but never started; `ended`: its exit was not collected yet. */
  phase: 'created' | 'running' | 'ended'
  ports: PublishedPort[]
  /** By this machine's clock; null when it is not known. */
  startedAtMs: number | null
  /** Why less is known of it than of others. */
  problem?: string
}

/** A main process that runs. */
export interface Started {
  ports: PublishedPort[]
  /** By this machine's clock. */
  startedAtMs: number
}

export interface StartHooks {
  /** Called before the step begins. `starting` comes before anything is created, so that the caller can record the intent. */
  onState(state: 'pulling' | 'starting'): void
  /** Gives up on a start that is no longer wanted. */
  signal: AbortSignal
  /**
   * Resolves with the workload as the plane wants it started, once it does; until then everything else is made ready (HOST-145). Rejects when it
   * is given up. Absent: it does now.
   */
  wanted?(): Promise<Workload>
  /** The ended workload whose writable layer this one goes on with. */
  diskOf?: string | null
  /** Host ports that the pod had before; it gets them again where they are free. */
  formerPorts?: readonly PublishedPort[]
}

/**
 * Thrown by `start`. The message is what the user reads as the reason, in our own words; `detail` is what a system or an engine said, for the
 * log of the agent alone (EDG-5).
 */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly detail: string | undefined

  constructor(message: string, detail?: string) {
    super(message)
    this.detail = detail
  }
}

/** What went through networks and to and from disks since the start, bytes; absent where nobody says. */
export interface Traffic {
  received?: number | undefined
  sent?: number | undefined
  read?: number | undefined
  written?: number | undefined
}

/** One reading of what a running workload uses. */
export interface Usage {
  /** CPU time since its start, nanoseconds. */
  cpuNanos: number
  /** How long it was ready to run and did not, since its start, nanoseconds; absent where that is not known. */
  cpuWaitNanos?: number | undefined
  memoryBytes: number
  memoryLimitBytes: number
  traffic?: Traffic | undefined
  /** Ids of the real GPUs that it was given. */
  gpuIds: readonly string[]
}

/** Output that was read in one go. */
export interface OutputChunk {
  lines: { at: number; line: string }[]
  /** Where to go on after these lines, in the runtime's own terms; JSON. */
  position: unknown
  /** There was output before these lines that is not to be had any more. */
  lost: boolean
}

/** A command to run in a workload; null: a login shell. */
export interface ExecRequest {
  command: readonly string[] | null
  terminal: { name: string; rows: number; cols: number } | null
}

export interface ExecOutput {
  channel: 'stdout' | 'stderr'
  bytes: Uint8Array
}

/** Thrown where a command cannot begin, or nobody can say how it ended; the message is what the user reads. */
export class ExecRefused extends Error {
  override readonly name = 'ExecRefused'
  /** No later try is answered otherwise. */
  readonly isForGood: boolean
  constructor(message: string, { isForGood = false } = {}) {
    super(message)
    this.isForGood = isForGood
  }
}

/** A command that runs in a workload. */
export interface ExecSession {
  /** Ends when the command has. */
  output: AsyncIterable<ExecOutput>
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>
  endInput(): void
  resize(rows: number, cols: number): Promise<void>
  signal(signal: Signal): Promise<void>
  /** To be asked once its output has ended. */
  exitCode(): Promise<number>
  /** Nobody is there any more: ends it if it still runs, and what it has started in its session. */
  end(): Promise<void>
}

/** One way to run workloads. Every method is safe to repeat; none decides *whether* something should run. */
export interface Runtime {
  readonly name: RuntimeName
  /** Whether an ended workload can be kept, so that a later one goes on with what it wrote (`StartHooks.diskOf`). */
  readonly keepsDisk: boolean
  canRun(image: string): boolean
  /** Resolves when the main process runs. On any failure nothing is left behind, and the workload of `diskOf` is as it was. */
  start(workload: Workload, hooks: StartHooks): Promise<Started>
  /** Resolves when the main process has ended, also one that a former agent process started or that ended meanwhile. */
  watch(id: string): Promise<WorkloadExit>
  /**
   * Hands over the output of the main process after `position` (undefined: from its beginning) as it comes. Resolves when the workload has
   * ended and all was handed over, or when the signal fires. No line is left out or given twice, whoever follows after whom.
   */
  followOutput(id: string, position: unknown, take: (chunk: OutputChunk) => void, signal: AbortSignal): Promise<void>
  /** What it uses now; undefined when it does not run or that is not known. */
  usage(id: string): Promise<Usage | undefined>
  /** Where a port of it is reached; undefined: it does not run, or is not reached at all. */
  place(id: string, port: number): Promise<Place | undefined>
  /** Starts a command in a workload that runs. Throws `ExecRefused`. */
  exec(id: string, request: ExecRequest): Promise<ExecSession>
  /** SIGTERM, `graceMs`, SIGKILL. Resolves when it is down; nothing to stop is fine. */
  stop(id: string, graceMs: number): Promise<void>
  remove(id: string): Promise<void>
  list(): Promise<RuntimeWorkload[]>
  /** Removes what interrupted starts left behind and no workload needs; to be called while none starts. */
  sweep(): Promise<void>
  /** Stops watching; leaves workloads as they are. */
  close(): void
}
