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
/** The plane refuses a message over a megabyte, so a hello lists this many, the newest, with shortened reasons. */
const HELLO_MAX = 1_000
const HELLO_REASON_MAX_CHARS = 300

/** Every change of a workload's state goes through here: onto disk first, then to the plane. */
export class WorkloadLedger {
  private readonly deps: LedgerDeps

  constructor(deps: LedgerDeps) {
    this.deps = deps
  }

  get records(): WorkloadRecords {
    return this.deps.records
  }

  /**
   * `atMs`: when it happened, by this machine's clock; now unless the caller knows better. False when the disk has refused it: it holds and is
   * told all the same, because a disk that a tenant has filled must not cost the plane what has happened.
   */
  change(id: string, change: Partial<WorkloadRecord>, atMs?: number | null): boolean {
    const former = this.records.get(id) ?? newRecord(id, null)
    // How it ended stays true when it is gone or noted absent; a new state otherwise starts without it.
    const kept = change.state === undefined || change.state === 'gone' ? former : { exitCode: null, reason: null, endedByHost: false }
    const reason = change.reason == null ? kept.reason : redact(change.reason).slice(0, REASON_MAX_CHARS)
    const stamp = { sequence: former.sequence + 1, at: atMs ?? this.deps.now() }
    const { exitCode, endedByHost = false } = kept
    const record = { ...former, exitCode, endedByHost, ...change, reason, ...stamp }
    const isWritten = this.records.save(record)
    if (!isWritten) this.deps.log.error('the state of a workload cannot be written to disk; will try again', { workload: id })
    this.deps.log.info('workload', { workload: id, state: record.state, exitCode: record.exitCode, reason })
    this.deps.report(toReport(record))
    return isWritten
  }

  /**
   * Notes on disk, before anything is done for a start, that it is under way. The plane is not told, and a number 0 says so. False when the disk
   * has refused it: then the start must not begin (HOST-73).
   */
  beginStart(id: string, kind: WorkloadRecord['kind']): boolean {
    const record = this.records.get(id) ?? { ...newRecord(id, kind), state: 'pulling', at: this.deps.now() }
    return this.records.save({ ...record, attempts: (record.attempts ?? 0) + 1 })
  }

  /** This process gave up on a start by itself. */
  forgetStart(id: string): void {
    const record = this.records.get(id)
    if (record !== undefined) this.records.save({ ...record, attempts: 0 })
  }

  /** What the plane was told of and may still have something here. */
  held(): WorkloadRecord[] {
    return this.records.all().filter(({ state, sequence }) => state !== 'gone' && sequence > 0)
  }

  /**
   * Says again in which state everything is that this host holds: a former agent process may have been killed after it had recorded a change and
   * before its report was on disk. The plane takes each number once.
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
