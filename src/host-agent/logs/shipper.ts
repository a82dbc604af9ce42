import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LogBatch, LogLine, LogsResponse } from '../../host-protocol/logs.ts'
import { LOG_LINE_MAX_CHARS } from '../../host-protocol/logs.ts'
import type { Workload } from '../../host-protocol/messages.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { redact, redactOutput, secretsOf } from '../redact.ts'
import type { OutputChunk, Runtime } from '../runtime.ts'
import { batchDueInMs, composeBatches } from './batch.ts'
import { LogSpool, type NewLine } from './spool.ts'

/** Limits of the log lines on disk for a plane that is unreachable (HOST-13), bytes. */
export const SPOOL_BOUNDS = { workloadBytes: 4 * 2 ** 20, totalBytes: 64 * 2 ** 20 } as const
/** Bounds as in `SPOOL_BOUNDS`, which tests replace. */
export type SpoolBounds = { [name in keyof typeof SPOOL_BOUNDS]: number }

export interface LogShipperOptions {
  dir: string
  /** Sends batches to the plane once; undefined when the plane did not take them. */
  send(batches: LogBatch[]): Promise<LogsResponse | undefined>
  log: Log
  now(): number
  bounds?: SpoolBounds
  retryBaseMs?: number
}

const RETRY_BASE_MS = 250
const RETRY_MAX_MS = 10_000
/** Time limit for the rest of the output of an ended workload. */
const DRAIN_MS = 5_000
const LOST_OUTPUT = 'some output was lost: the program wrote more than this machine buffers without a reader'

interface Stream {
  spool: LogSpool
  secrets: readonly string[]
  /** When the oldest line that the plane does not have began to wait, ms; an acknowledgement sets it anew. */
  pendingSinceMs: number
  /** Resolves when the output has been read to its end. */
  followed: Promise<void>
}

/** Ships the logs of workloads: reads their output, stores it on disk, and sends it in batches until the plane has it (HOST-12). */
export class LogShipper {
  private readonly options: LogShipperOptions
  private readonly bounds: SpoolBounds
  private readonly streams = new Map<string, Stream>()
  private readonly closing = new AbortController()
  private flushing = false
  private wake: () => void = () => {}

  constructor(options: LogShipperOptions) {
    this.options = options
    this.bounds = options.bounds ?? SPOOL_BOUNDS
    mkdirSync(options.dir, { recursive: true, mode: 0o700 })
    for (const id of readdirSync(options.dir)) this.load(id)
  }

  private load(id: string): void {
    const spool = LogSpool.load(this.options.dir, id)
    if (spool !== undefined) {
      this.add(spool, [])
      return
    }
    this.options.log.warn(
      'the buffered log of a workload cannot be read; it is removed, and lines that the plane did not have yet are lost',
      {
        workload: id,
      },
    )
    rmSync(join(this.options.dir, id), { recursive: true, force: true })
  }

  private add(spool: LogSpool, secrets: readonly string[]): void {
    this.streams.set(spool.id, { spool, secrets, pendingSinceMs: this.options.now(), followed: Promise.resolve() })
  }

  /** Begins the log of a workload that is about to start; a workload without `log` has none. */
  open(workload: Workload): void {
    if (workload.log === undefined || this.streams.has(workload.id)) return
    const { id, log } = workload
    this.attempt(id, () => this.add(LogSpool.create(this.options.dir, id, log), secretsOf(workload)))
  }

  /**
   * Sets the secrets of a workload that a previous agent process started. A workload that is not to run is listed without secrets, so its
   * known ones stay.
   */
  update(workload: Workload): void {
    const stream = this.streams.get(workload.id)
    if (stream !== undefined && workload.desired === 'running') stream.secrets = secretsOf(workload)
  }

  /** Adds a line about an action of the platform on a workload (LOG-5). */
  note(id: string, text: string): void {
    this.attempt(id, () => this.append(id, [{ at: this.options.now(), source: 'system', line: redact(text).slice(0, LOG_LINE_MAX_CHARS) }]))
  }

  /** Reads the output of a workload from the stored position to its end. */
  follow(runtime: Runtime, id: string): void {
    const stream = this.streams.get(id)
    if (stream !== undefined && !stream.spool.isEnded) stream.followed = this.readToEnd(runtime, stream)
  }

  private async readToEnd(runtime: Runtime, { spool }: Stream): Promise<void> {
    for (let failures = 0; !this.closing.signal.aborted; failures += 1) {
      try {
        return await runtime.followOutput(spool.id, spool.position, (chunk) => this.take(spool.id, chunk), this.closing.signal)
      } catch (error) {
        this.options.log.warn('cannot read the output of a workload; the agent retries', { workload: spool.id, error: errorText(error) })
        await sleep(backoffMs(failures, RETRY_BASE_MS, RETRY_MAX_MS), this.closing.signal)
      }
    }
  }

  private take(id: string, { lines, position, lost }: OutputChunk): void {
    const secrets = this.streams.get(id)?.secrets ?? []
    const output = lines.map(({ at, line }) => {
      return { at, source: 'container' as const, line: redactOutput(line, secrets).slice(0, LOG_LINE_MAX_CHARS) }
    })
    const gap = lost ? [{ at: lines[0]?.at ?? this.options.now(), source: 'system' as const, line: LOST_OUTPUT }] : []
    this.append(id, [...gap, ...output], position)
  }

  /** Waits for the rest of an ended workload's output, then adds the line that says how the workload ended, once. */
  async finish(id: string, text: string): Promise<void> {
    const stream = this.streams.get(id)
    if (stream === undefined || stream.spool.isEnded) return
    await Promise.race([stream.followed, sleep(DRAIN_MS, this.closing.signal)])
    // The next agent process reads the rest of the output, so the caller must not go on and remove the workload.
    if (this.closing.signal.aborted) return await new Promise(() => {})
    this.attempt(id, () => this.append(id, [{ at: this.options.now(), source: 'system', line: redact(text) }], undefined, true))
  }

  private append(id: string, lines: readonly NewLine[], position?: unknown, end = false): void {
    const stream = this.streams.get(id)
    if (stream === undefined || stream.spool.isEnded) return
    if (stream.spool.pendingLines === 0) stream.pendingSinceMs = this.options.now()
    stream.spool.append(lines, position ?? stream.spool.position, end)
    while (stream.spool.bytes > this.bounds.workloadBytes && stream.spool.dropOldest());
    this.boundTotal()
    this.wake()
  }

  /** Drops the oldest lines of the largest spool until the total fits. */
  private boundTotal(): void {
    for (;;) {
      const spools = [...this.streams.values()].map(({ spool }) => spool)
      const total = spools.reduce((sum, { bytes }) => sum + bytes, 0)
      if (total <= this.bounds.totalBytes) return
      const largest = spools.reduce<LogSpool | undefined>((most, spool) => (spool.bytes > (most?.bytes ?? 0) ? spool : most), undefined)
      if (largest === undefined) return
      if (largest.dropOldest()) continue
      // Only single segments are left: the first ended workload loses its whole log.
      const ended = spools.find(({ isEnded, bytes }) => isEnded && bytes > 0)
      if (ended === undefined) return
      ended.dropAll()
    }
  }

  /** Runs a step and logs its failure: a full disk costs lines and a warning, but must never stop a workload. */
  private attempt(id: string, step: () => void): void {
    try {
      step()
    } catch (error) {
      this.options.log.warn('a log line could not be stored', { workload: id, error: errorText(error) })
    }
  }

  start(): void {
    void this.run()
  }

  private async run(): Promise<void> {
    for (let failures = 0; !this.closing.signal.aborted; ) {
      const waitMs = this.nextDueInMs()
      if (waitMs > 0) {
        await this.idle(waitMs)
        continue
      }
      const progressed = await this.sendOnce()
      failures = progressed ? 0 : failures + 1
      if (!progressed) await sleep(backoffMs(failures - 1, this.options.retryBaseMs ?? RETRY_BASE_MS, RETRY_MAX_MS), this.closing.signal)
    }
  }

  private nextDueInMs(): number {
    const pending = this.pending()
    if (this.flushing && pending.length > 0) return 0
    const nowMs = this.options.now()
    const due = pending.map(({ spool, pendingSinceMs }) => batchDueInMs(spool.pendingLines, pendingSinceMs, nowMs))
    return Math.min(...due, Number.POSITIVE_INFINITY)
  }

  private pending(): Stream[] {
    return [...this.streams.values()].filter(({ spool }) => spool.pendingLines > 0)
  }

  private async idle(waitMs: number): Promise<void> {
    const woken = new AbortController()
    this.wake = () => woken.abort()
    // `setTimeout` needs a finite number; an hour is enough, because `wake` ends the pause.
    await sleep(Math.min(waitMs, 3_600_000), AbortSignal.any([woken.signal, this.closing.signal]))
    this.wake = () => {}
  }

  /** Sends one request, with the lines that have waited longest first. False when the plane took nothing. */
  private async sendOnce(): Promise<boolean> {
    const nowMs = this.options.now()
    const waiting = this.pending().toSorted((a, b) => a.pendingSinceMs - b.pendingSinceMs)
    const batches = composeBatches(
      waiting.map(({ spool }) => ({ workloadId: spool.id, access: spool.access, lines: this.peek(spool, nowMs) })),
    )
    if (batches.length === 0) return false
    const answer = await this.options.send(batches)
    for (const result of answer?.results ?? []) this.applyResult(result)
    return (answer?.results.length ?? 0) > 0
  }

  /** Unacknowledged lines; none when they cannot be read, because one log must not block the others. */
  private peek(spool: LogSpool, nowMs: number): LogLine[] {
    try {
      return spool.peek(nowMs)
    } catch (error) {
      this.options.log.warn('lines of a log cannot be read from disk', { workload: spool.id, error: errorText(error) })
      return []
    }
  }

  private applyResult(result: LogsResponse['results'][number]): void {
    const stream = this.streams.get(result.workloadId)
    if (stream === undefined) return
    if ('refused' in result) {
      this.options.log.warn('the plane refuses a log; it is dropped', { workload: result.workloadId, reason: result.refused })
      this.discard(result.workloadId)
      return
    }
    this.attempt(result.workloadId, () => stream.spool.ack(result.takenSeq))
    stream.pendingSinceMs = this.options.now()
    if (stream.spool.isEnded && stream.spool.pendingLines === 0) this.discard(result.workloadId)
  }

  private discard(id: string): void {
    const stream = this.streams.get(id)
    this.streams.delete(id)
    this.attempt(id, () => stream?.spool.remove())
  }

  /** Sends the remaining lines for at most `timeoutMs`; the next agent process sends the rest. */
  async close(timeoutMs: number): Promise<void> {
    this.flushing = true
    this.wake()
    const deadline = performance.now() + timeoutMs
    while (this.pending().length > 0 && performance.now() < deadline) await sleep(20)
    this.closing.abort()
  }
}
