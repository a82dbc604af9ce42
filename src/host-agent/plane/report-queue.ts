import { z } from 'zod'
import { WorkloadReport } from '../../host-protocol/messages.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import { readJsonFile, writeLosableJsonFile } from '../../node/json-file.ts'
import type { Log } from '../log.ts'

/** Result of sending a batch: taken, to be retried later, or refused for good. */
export type SendResult = 'taken' | 'later' | 'refused'

export interface ReportQueueOptions {
  path: string
  send(reports: WorkloadReport[]): Promise<SendResult>
  log: Log
  retryBaseMs?: number
}

const BATCH_MAX = 128
/** Beyond this the oldest reports are dropped: the present state matters most, and it comes last. */
const QUEUE_MAX = 10_000
const RETRY_MAX_MS = 10_000

/** Reports that wait for the plane: delivered in order, repeated until acknowledged, and stored on disk across restarts. */
export class ReportQueue {
  private readonly options: ReportQueueOptions
  private readonly closing = new AbortController()
  private reports: WorkloadReport[]
  private wake: () => void = () => {}
  private running: Promise<void> | undefined

  constructor(options: ReportQueueOptions) {
    this.options = options
    this.reports = z.array(WorkloadReport).safeParse(readJsonFile(options.path)).data ?? []
  }

  push(report: WorkloadReport): void {
    this.reports.push(report)
    if (this.reports.length > QUEUE_MAX) this.reports.shift()
    this.save()
    this.wake()
  }

  holdsReportOf(workloadId: string): boolean {
    return this.reports.some((report) => report.workloadId === workloadId)
  }

  start(): void {
    this.running ??= this.drain()
  }

  /** Waits until all reports are acknowledged, at most `timeoutMs`; the next agent process delivers the rest. */
  async close(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (this.running !== undefined && this.reports.length > 0 && performance.now() < deadline) await sleep(20)
    this.closing.abort()
    this.wake()
    await this.running
  }

  private async drain(): Promise<void> {
    for (let failures = 0; !this.closing.signal.aborted; ) {
      if (this.reports.length === 0) {
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
        continue
      }
      // After a failure, one report at a time, so that one bad report is not refused together with its whole batch.
      const batch = this.reports.slice(0, failures > 0 ? 1 : BATCH_MAX)
      const result = await this.options.send(batch)
      if (result === 'taken' || (result === 'refused' && batch.length === 1)) {
        this.drop(batch, result)
        failures = 0
        continue
      }
      failures += 1
      if (result === 'later') await sleep(backoffMs(failures - 1, this.options.retryBaseMs ?? 250, RETRY_MAX_MS), this.closing.signal)
    }
  }

  private drop(batch: readonly WorkloadReport[], result: SendResult): void {
    if (result === 'refused') this.options.log.error('the plane refused a report; it is dropped', { workload: batch[0]?.workloadId })
    const sent = new Set(batch)
    this.reports = this.reports.filter((report) => !sent.has(report))
    this.save()
  }

  /** A full disk must not stop delivery. The next push or acknowledgement writes all reports again. */
  private save(): void {
    try {
      writeLosableJsonFile(this.options.path, this.reports)
    } catch (error) {
      this.options.log.warn('reports cannot be stored on disk', { error: errorText(error) })
    }
  }
}
