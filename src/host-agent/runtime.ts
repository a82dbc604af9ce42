import type { RuntimeName, Workload, WorkloadReport } from '../host-protocol/messages.ts'
import type { Signal } from '../host-protocol/tunnel/channels.ts'

/** A port of a workload and the port of this machine that leads to it. */
export type PublishedPort = NonNullable<WorkloadReport['ports']>[number]

/** Address at which this machine reaches a port of a workload. */
export interface Place {
  host: string
  port: number
}

/** The end of a workload. */
export interface WorkloadExit {
  /** 128 + n when signal n ended the workload, as in a shell; null when it is unknown. */
  exitCode: number | null
  reason: string
  /** By this machine's clock; null when it is unknown. */
  endedAtMs: number | null
  /** Its host, its engine or a person on the machine ended the workload, or nothing observed its end (LSE-21). */
  byHost?: boolean
  /** Nothing of the workload is left. */
  vanished?: boolean
}

/** A workload of this agent for which a runtime has a container or process, running or ended. */
export interface RuntimeWorkload {
  id: string
  /** `created`: prepared but never started; `ended`: its exit is not collected yet. */
  phase: 'created' | 'running' | 'ended'
  ports: PublishedPort[]
  /** By this machine's clock; null when it is unknown. */
  startedAtMs: number | null
  /** Why facts about this workload are missing. */
  problem?: string
}

/** A running main process. */
export interface Started {
  ports: PublishedPort[]
  /** By this machine's clock. */
  startedAtMs: number
}

/** Reports the progress of a start, and cancels it. */
export interface StartHooks {
  /** Called before the step begins. `starting` precedes the creation of anything, so that the caller can record the intent. */
  onState(state: 'pulling' | 'starting'): void
  /** Cancels a start that is not wanted any more. */
  signal: AbortSignal
  /**
   * Resolves with the workload once its desired state says to start it; until then the runtime prepares everything else (HOST-145). Rejects
   * when the start is cancelled. Absent: the workload is to start at once.
   */
  wanted?(): Promise<Workload>
  /** Ended workload whose writable layer the new one continues with. */
  diskOf?: string | null
  /** Previous host ports of the pod; the runtime assigns them again where they are free. */
  previousPorts?: readonly PublishedPort[]
}

/**
 * Thrown by `start`. The message is the reason that the user reads, in the platform's words; `detail` is the text of a system or an engine
 * and goes to the agent's log only (EDG-5).
 */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly detail: string | undefined

  constructor(message: string, detail?: string) {
    super(message)
    this.detail = detail
  }
}

/** Bytes received, sent, read and written since the start; absent where no source reports them. */
export interface Traffic {
  received?: number | undefined
  sent?: number | undefined
  read?: number | undefined
  written?: number | undefined
}

/** One reading of the resources that a running workload uses. */
export interface Usage {
  /** CPU time since its start, nanoseconds. */
  cpuNanos: number
  /** Time since its start in which the workload was ready to run and did not run, nanoseconds; absent where it is unknown. */
  cpuWaitNanos?: number | undefined
  memoryBytes: number
  memoryLimitBytes: number
  traffic?: Traffic | undefined
  /** Ids of the real GPUs that the workload has. */
  gpuIds: readonly string[]
}

/** Output from one read. */
export interface OutputChunk {
  lines: { at: number; line: string }[]
  /** Position after these lines, in the runtime's own format; JSON. */
  position: unknown
  /** Output before these lines is lost. */
  lost: boolean
}

/** A command to run in a workload; null: a login shell. */
export interface ExecRequest {
  command: readonly string[] | null
  terminal: { name: string; rows: number; cols: number } | null
}

/** Bytes that a command in a workload has written. */
export interface ExecOutput {
  channel: 'stdout' | 'stderr'
  bytes: Uint8Array
}

/** Thrown where a command cannot start, or its exit code cannot be determined; the message is what the user reads. */
export class ExecRefused extends Error {
  override readonly name = 'ExecRefused'
  /** A retry cannot succeed. */
  readonly isForGood: boolean
  constructor(message: string, { isForGood = false } = {}) {
    super(message)
    this.isForGood = isForGood
  }
}

/** A running command in a workload. */
export interface ExecSession {
  /** Ends when the command ends. */
  output: AsyncIterable<ExecOutput>
  /** Resolves when there is room for more input. */
  write(bytes: Uint8Array): Promise<void>
  endInput(): void
  resize(rows: number, cols: number): Promise<void>
  signal(signal: Signal): Promise<void>
  /** Exit code; call it after `output` has ended. */
  exitCode(): Promise<number>
  /** The client has disconnected: ends the command if it still runs, and the processes that it started in its session. */
  end(): Promise<void>
}

/** One way to run workloads. Every method is safe to repeat; none decides *whether* a workload runs. */
export interface Runtime {
  readonly name: RuntimeName
  /** Whether an ended workload can be retained, so that a later one continues with its files (`StartHooks.diskOf`). */
  readonly keepsDisk: boolean
  canRun(image: string): boolean
  /** Resolves when the main process runs. On any failure nothing is left behind, and the workload of `diskOf` is unchanged. */
  start(workload: Workload, hooks: StartHooks): Promise<Started>
  /** Resolves when the main process has ended, also one that a previous agent process started or that ended in between. */
  watch(id: string): Promise<WorkloadExit>
  /**
   * Passes on the output of the main process after `position` (undefined: from its beginning) as it comes. Resolves when the workload has
   * ended and all output was passed on, or when the signal fires. Successive followers neither skip nor repeat a line.
   */
  followOutput(id: string, position: unknown, take: (chunk: OutputChunk) => void, signal: AbortSignal): Promise<void>
  /** Current resource use; undefined when the workload does not run or its use is unknown. */
  usage(id: string): Promise<Usage | undefined>
  /** Address of a port of the workload; undefined when the workload does not run or this machine cannot reach it. */
  place(id: string, port: number): Promise<Place | undefined>
  /** Starts a command in a running workload. Throws `ExecRefused`. */
  exec(id: string, request: ExecRequest): Promise<ExecSession>
  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when the workload has ended; a workload that does not run is no error. */
  stop(id: string, graceMs: number): Promise<void>
  remove(id: string): Promise<void>
  list(): Promise<RuntimeWorkload[]>
  /** Removes the leftovers of interrupted starts that no workload needs; call it only while no workload starts. */
  sweep(): Promise<void>
  /** Stops watching; workloads continue. */
  close(): void
}
