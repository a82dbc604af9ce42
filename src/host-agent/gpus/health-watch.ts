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
/** Most problems that one beat carries; a machine with more has one problem. */
const MAX_PROBLEMS = 64
/** A driver that is busy, with an upgrade say, may miss one look. */
const FAILURES_LIMIT = 2
/** Of the kernel log, the first that may be read: both need rights that an agent does not always have. */
const KERNEL_LOGS: readonly (readonly [string, readonly string[]])[] = [
  ['journalctl', ['--dmesg', '--boot', '--quiet', '--no-pager', '--output=short']],
  ['dmesg', []],
]

export interface GpuHealthWatchOptions {
  log: Log
  /** Milliseconds between two looks. */
  intervalMs?: number
}

/** Looks at the health of this machine's GPUs once a minute, and says in beats what has changed (HOST-41). */
export class GpuHealthWatch {
  private readonly options: GpuHealthWatchOptions
  private readonly known = new Map<string, GpuReading>()
  private hot: ReadonlySet<string> = new Set()
  private problems: GpuProblem[] | undefined
  private sent: string | undefined
  private failures = 0
  /** What the driver can be asked; undefined until it has said so. */
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

  /** What a beat says of it: everything in the first beat of a link and after a change, nothing otherwise. */
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
    // Another driver, an older one say, may have come meanwhile.
    if (output.failed) this.fields = undefined
    // With one GPU lost it fails as a whole, but may still list the others.
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
    // Without the right to read it, journalctl may succeed and say nothing.
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
