import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'

const EVERY_MS = 5_000
/** About the size of the records and log lines of one heartbeat: a disk without room for it cannot serve a workload. */
const PROBE_BYTES = 64 * 1024
const PROBLEM_MAX_CHARS = 300

export interface DiskWatchDeps {
  stateDir: string
  log: Log
  everyMs?: number
}

/**
 * Checks by writing whether the agent's own disk takes writes. A full disk stops no running workload: the host reports the problem, gets no
 * new work, and recovers by itself once there is room (HOST-172).
 */
export class DiskWatch {
  /** Called when `problem` has changed, which the agent reports to the plane. */
  onChange: () => void = () => {}
  private readonly deps: DiskWatchDeps
  private readonly probe: Buffer = Buffer.alloc(PROBE_BYTES, '.')
  private why: string | null = null
  private checking: Promise<void> | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(deps: DiskWatchDeps) {
    this.deps = deps
  }

  /** Reason why writes fail, as text for the operator; null: they succeed. */
  get problem(): string | null {
    return this.why
  }

  async start(): Promise<void> {
    await this.check()
    this.timer = setInterval(() => void this.check(), this.deps.everyMs ?? EVERY_MS)
  }

  /** Runs one check at a time: on a disk that does not answer, each would block a thread. */
  check(): Promise<void> {
    this.checking ??= this.tryOut().finally(() => {
      this.checking = undefined
    })
    return this.checking
  }

  close(): void {
    clearInterval(this.timer)
  }

  private async tryOut(): Promise<void> {
    const { log, stateDir } = this.deps
    const path = join(stateDir, 'disk-trial')
    const before = this.why
    this.why = await writeFile(path, this.probe, { mode: 0o600 }).then(
      () => null,
      (error: unknown) => `its state directory ${stateDir} is not writable: ${errorText(error)}`.slice(0, PROBLEM_MAX_CHARS),
    )
    await rm(path, { force: true }).catch(() => {})
    if (this.why === before) return
    if (this.why === null) log.info('the disk of this agent is writable again')
    else log.error('the disk of this agent is not writable; running workloads continue, and no new ones start', { reason: this.why })
    this.onChange()
  }
}
