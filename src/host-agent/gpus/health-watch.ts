import { execFile } from 'node:child_process'
import type { GpuProblem } from '../../host-protocol/messages.ts'
import type { Log } from '../log.ts'
import {
  findGpuProblems,
  type GpuReading,
  type HealthField,
  healthFieldsOf,
  isHot,
  parseHealthQuery,
  parseXids,
  type Xid,
} from './health.ts'

const INTERVAL_MS = 60_000
const TIMEOUT_MS = 20_000
const OUTPUT_MAX_BYTES = 16 * 2 ** 20
/** Maximum number of problems in one heartbeat; more of them have a common cause. */
const MAX_PROBLEMS = 64
/** Consecutive failures of nvidia-smi that count as a problem: a busy driver, during an upgrade for example, may fail once. */
const FAILURES_LIMIT = 2
/** Programs that print the kernel log; the first that succeeds is used, because both need rights that an agent may lack. */
const KERNEL_LOGS: readonly (readonly [string, readonly string[]])[] = [
  ['journalctl', ['--dmesg', '--boot', '--quiet', '--no-pager', '--output=short']],
  ['dmesg', []],
]

export interface GpuHealthWatchOptions {
  log: Log
  /** Milliseconds between two checks. */
  intervalMs?: number
}

/** Checks the health of this machine's GPUs once a minute and reports changes in heartbeats (HOST-41). */
export class GpuHealthWatch {
  private readonly options: GpuHealthWatchOptions
  private readonly known = new Map<string, GpuReading>()
  private hot: ReadonlySet<string> = new Set()
  private problems: GpuProblem[] | undefined
  private sent: string | undefined
  private failures = 0
  /** Query fields that the driver supports; undefined until they are read from it. */
  private fields: readonly HealthField[] | undefined
  private timer: NodeJS.Timeout | undefined
  private closed = false

  constructor(options: GpuHealthWatchOptions) {
    this.options = options
  }

  start(): void {
    void this.look().finally(() => {
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

  private async look(): Promise<void> {
    this.fields ??= healthFieldsOf((await run('nvidia-smi', ['--help-query-gpu'])).stdout)
    const output = await run('nvidia-smi', [`--query-gpu=${this.fields.join(',')}`, '--format=csv,noheader,nounits'])
    const readings = parseHealthQuery(output.stdout, this.fields)
    // The driver may have been replaced, by an older one for example, so its fields are read again.
    if (output.failed) this.fields = undefined
    // With one GPU lost, nvidia-smi fails as a whole but may still list the others.
    const answers = !output.failed || readings.length > 0
    this.failures = answers ? 0 : this.failures + 1
    if (!answers && this.failures < FAILURES_LIMIT) return
    for (const reading of readings) this.known.set(reading.uuid, reading)
    const facts = { known: this.known, current: answers ? readings : undefined, xids: await readXids(), hot: this.hot }
    this.note(findGpuProblems(facts).slice(0, MAX_PROBLEMS))
    this.hot = new Set(readings.filter((reading) => isHot(reading, this.hot)).map(({ uuid }) => uuid))
  }

  private note(problems: GpuProblem[]): void {
    const former = new Set((this.problems ?? []).map((problem) => JSON.stringify(problem)))
    for (const problem of problems) {
      if (!former.has(JSON.stringify(problem))) this.options.log.warn('GPU problem', { gpu: problem.index, problem: problem.problem })
    }
    this.problems = problems
  }
}

async function readXids(): Promise<Xid[]> {
  for (const [program, args] of KERNEL_LOGS) {
    const { stdout, failed } = await run(program, args)
    // Without the right to read the kernel log, journalctl may succeed with empty output.
    if (!failed && stdout.trim() !== '') return parseXids(stdout)
  }
  return []
}

function run(program: string, args: readonly string[]): Promise<{ stdout: string; failed: boolean }> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES }, (error, stdout) =>
      resolve({ stdout, failed: error !== null }),
    )
  })
}
