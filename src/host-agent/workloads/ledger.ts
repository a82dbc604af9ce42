import type { WorkloadReport } from '../../host-protocol/messages.ts'
import type { Log } from '../log.ts'
import { redact } from '../redact.ts'
import { newRecord, toReport, type WorkloadRecord, type WorkloadRecords } from './records.ts'

export interface LedgerDeps {
  records: WorkloadRecords
  /** Queues a report for the plane. */
  report(report: WorkloadReport): void
  log: Log
  now(): number
}

const REASON_MAX_CHARS = 2_048
/** The plane refuses messages over 1 MB, so a hello contains at most this many workloads, the newest, with shortened reasons. */
const HELLO_MAX = 1_000
const HELLO_REASON_MAX_CHARS = 300

/** Every change of a workload's state passes through here: to disk first, then to the plane. */
export class WorkloadLedger {
  private readonly deps: LedgerDeps

  constructor(deps: LedgerDeps) {
    this.deps = deps
  }

  get records(): WorkloadRecords {
    return this.deps.records
  }

  /**
   * Records and reports a change. `atMs`: the time at which it happened by this machine's clock; default: the present. Returns false when
   * it could not be written; it is still reported, because a disk filled by a tenant must not hide events from the plane.
   */
  change(id: string, change: Partial<WorkloadRecord>, atMs?: number | null): boolean {
    const previous = this.records.get(id) ?? newRecord(id, null)
    // The way it ended stays valid when the workload is gone or absent; any other new state clears it.
    const kept = change.state === undefined || change.state === 'gone' ? previous : { exitCode: null, reason: null, endedByHost: false }
    const reason = change.reason == null ? kept.reason : redact(change.reason).slice(0, REASON_MAX_CHARS)
    const stamp = { sequence: previous.sequence + 1, at: atMs ?? this.deps.now() }
    const { exitCode, endedByHost = false } = kept
    const record = { ...previous, exitCode, endedByHost, ...change, reason, ...stamp }
    const isWritten = this.records.save(record)
    if (!isWritten) this.deps.log.error('the state of a workload cannot be written to disk; the agent retries', { workload: id })
    this.deps.log.info('workload', { workload: id, state: record.state, exitCode: record.exitCode, reason })
    this.deps.report(toReport(record))
    return isWritten
  }

  /**
   * Records a start attempt before anything is done for it; it is not reported to the plane (sequence 0). False when it could not be
   * written: then the start must not begin (HOST-73).
   */
  beginStart(id: string, kind: WorkloadRecord['kind']): boolean {
    const record = this.records.get(id) ?? { ...newRecord(id, kind), state: 'pulling', at: this.deps.now() }
    return this.records.save({ ...record, attempts: (record.attempts ?? 0) + 1 })
  }

  /** Clears the attempts of a start that this process has cancelled itself. */
  dropStart(id: string): void {
    const record = this.records.get(id)
    if (record !== undefined) this.records.save({ ...record, attempts: 0 })
  }

  /** Returns the workloads that were reported to the plane and are not gone. */
  held(): WorkloadRecord[] {
    return this.records.all().filter(({ state, sequence }) => state !== 'gone' && sequence > 0)
  }

  /**
   * Reports the state of every held workload again: a previous agent process may have been killed between recording a change and storing
   * its report. The plane takes each sequence number once.
   */
  repeatAll(): void {
    for (const record of this.held()) this.deps.report(toReport(record))
  }

  helloReports(): WorkloadReport[] {
    const newest = this.held().toSorted((a, b) => b.at - a.at)
    return newest.slice(0, HELLO_MAX).map((record) => {
      const report = toReport(record)
      return { ...report, reason: report.reason?.slice(0, HELLO_REASON_MAX_CHARS) ?? null }
    })
  }

  beatStates(): { id: string; state: WorkloadReport['state'] }[] {
    const newest = this.held().toSorted((a, b) => b.at - a.at)
    return newest.slice(0, HELLO_MAX).map(({ id, state }) => ({ id, state }))
  }
}
