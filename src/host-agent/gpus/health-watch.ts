import type { GpuProblem } from '../../host-protocol/messages.ts'
import type { Log } from '../log.ts'
import { findGpuProblems, type GpuReading, isHot } from './health.ts'
import { runTool } from './run-tool.ts'
import type { GpuHealth, GpuVendor } from './vendor.ts'

const INTERVAL_MS = 60_000
/** Maximum number of problems in one heartbeat; more of them have a common cause. */
const MAX_PROBLEMS = 64
/** Consecutive failures of a driver that count as a problem: a busy driver, during an upgrade for example, may fail once. */
const FAILURES_LIMIT = 2

export interface GpuHealthWatchOptions {
  /** Vendors of this machine's GPUs. */
  vendors: readonly GpuVendor[]
  log: Log
  /** Milliseconds between two checks. */
  intervalMs?: number
}

/** Checks the health of this machine's GPUs once a minute and reports changes in heartbeats (HOST-41). */
export class GpuHealthWatch {
  private readonly options: GpuHealthWatchOptions
  private readonly checks: readonly VendorCheck[]
  private problems: GpuProblem[] | undefined
  private sent: string | undefined
  private timer: NodeJS.Timeout | undefined
  private closed = false

  constructor(options: GpuHealthWatchOptions) {
    this.options = options
    this.checks = options.vendors.map((vendor) => new VendorCheck(vendor))
  }

  start(): void {
    void this.check().finally(() => {
      if (!this.closed) this.timer = setTimeout(() => this.start(), this.options.intervalMs ?? INTERVAL_MS)
    })
  }

  close(): void {
    this.closed = true
    clearTimeout(this.timer)
  }

  /** GPU problems for a heartbeat: all of them in the first heartbeat of a link and after a change, otherwise nothing. */
  forBeat(first: boolean): { gpuHealth?: GpuProblem[] } {
    if (this.problems === undefined) return {}
    const text = JSON.stringify(this.problems)
    if (!first && text === this.sent) return {}
    this.sent = text
    return { gpuHealth: this.problems }
  }

  private async check(): Promise<void> {
    const found = await Promise.all(this.checks.map((check) => check.check()))
    if (found.some((problems) => problems !== undefined)) this.note(found.flatMap((problems) => problems ?? []).slice(0, MAX_PROBLEMS))
  }

  private note(problems: GpuProblem[]): void {
    const previous = new Set((this.problems ?? []).map((problem) => JSON.stringify(problem)))
    for (const problem of problems) {
      if (!previous.has(JSON.stringify(problem))) this.options.log.warn('GPU problem', { gpu: problem.index, problem: problem.problem })
    }
    this.problems = problems
  }
}

/** Checks the GPUs of one vendor. */
class VendorCheck {
  private readonly tool: string
  private readonly health: GpuHealth
  private readonly known = new Map<string, GpuReading>()
  private hot: ReadonlySet<string> = new Set()
  private failures = 0
  private problems: GpuProblem[] | undefined

  constructor(vendor: GpuVendor) {
    this.tool = vendor.tool
    this.health = vendor.health()
  }

  /** Returns all current problems; undefined while the first check has failed once. */
  async check(): Promise<GpuProblem[] | undefined> {
    const current = await this.health.read()
    this.failures = current === undefined ? this.failures + 1 : 0
    if (current === undefined && this.failures < FAILURES_LIMIT) return this.problems
    for (const reading of current ?? []) this.known.set(reading.uuid, reading)
    const errors = this.health.findErrors(await readKernelLog())
    this.problems = findGpuProblems({ tool: this.tool, known: this.known, current, errors, hot: this.hot })
    this.hot = new Set((current ?? []).filter((reading) => isHot(reading, this.hot)).map(({ uuid }) => uuid))
    return this.problems
  }
}

const TIMEOUT_MS = 20_000
/** Programs that print the kernel log; the first that succeeds is used, because both need rights that an agent may lack. */
const PROGRAMS: readonly (readonly [string, readonly string[]])[] = [
  ['journalctl', ['--dmesg', '--boot', '--quiet', '--no-pager', '--output=short']],
  ['dmesg', []],
]

/** Returns the kernel log of this boot; empty where it cannot be read. */
async function readKernelLog(): Promise<string> {
  for (const [program, args] of PROGRAMS) {
    const { stdout, error } = await runTool(program, args, TIMEOUT_MS)
    // Without the right to read the kernel log, journalctl may succeed with empty output.
    if (error === null && stdout.trim() !== '') return stdout
  }
  return ''
}
