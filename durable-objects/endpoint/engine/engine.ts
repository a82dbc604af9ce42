import { moveDeadlines, stepOverRestOf } from '../../../src/queue/clock-steps.ts'
import { beginCommit, type CommitEnd, endCommit } from '../../../src/queue/commit.ts'
import { applyDeadlines, earliest, nextDueAtMs } from '../../../src/queue/deadlines.ts'
import { alarmTrustOf } from '../../../src/queue/standing.ts'
import { type Effects, liveConfig, type Tx } from '../../../src/queue/tx.ts'
import { doubtRequests } from '../../../src/queue/workers/requests.ts'
import { type Stepped, watchSteps } from '../../clock/step-watch.ts'
import type { Clock, Commits, Outside, Placing, Room, Serving } from '../parts.ts'
import { SLOT_LEASE_MS } from '../slots.ts'
import type { SqlState } from '../store/sql-state.ts'
import { stepBulks } from './bulk-steps.ts'
import { GroupCommit } from './commit.ts'
import { DELETE_AFTER_MS, hasNothing, isKnown } from './deletion.ts'
import type { StoredRows } from './stored-rows.ts'

/** Commits of an endpoint object: what runs around their operations, its single alarm, and the end of its storage. */
export class Engine implements Commits, Stepped {
  private readonly rows: StoredRows
  private readonly core: Clock & Outside & Placing & Room & Serving
  private readonly commits: GroupCommit<CommitEnd>
  /**
   * Whether a commit has run since the object started. The time of the next scaling decision is only in memory, so the first commit decides
   * again.
   */
  private planned = false
  private scaleAtMs: number | null = null
  /** Clock steps, in milliseconds, that the deadlines are still to be moved by. */
  private stepMs = 0

  /** `perform` performs the effects of a commit once it is durable. */
  constructor(
    storage: DurableObjectStorage,
    rows: StoredRows,
    core: Clock & Outside & Placing & Room & Serving,
    perform: (effects: Effects, end: CommitEnd) => void,
  ) {
    this.rows = rows
    this.core = core
    watchSteps(core.timers, this)
    this.commits = new GroupCommit({
      storage,
      open: (effects) => ({ state: rows.open().state, nowMs: core.now(), effects }),
      begin: (tx) => this.begin(tx),
      end: (tx) => this.end(tx),
      perform: (effects, end) => {
        this.planned = true
        this.stepMs = 0
        rows.open().state.keep()
        perform(effects, end)
      },
      mark: () => rows.open().state.mark,
      reload: (mark) => this.reload((state) => state.reload(mark)),
      abandon: () => this.reload((state) => state.abandon()),
    })
  }

  transact<T>(run: (tx: Tx) => T): Promise<T> {
    this.rows.open()
    return this.commits.transact(run)
  }

  /** Handles a fired alarm: applies due transitions, runs a step of a bulk change and returns storage that is not needed. */
  async wake(): Promise<void> {
    if (!this.rows.present) return
    await this.transact((tx) => {
      const { alarm, state } = this.rows.open()
      alarm.fired()
      applyDeadlines(tx)
      stepBulks(state, tx)
    })
    const config = liveConfig(this.rows.open().state)
    if (config) await this.core.grant.trim(config)
    else await this.discard()
  }

  /**
   * END-33: deletes all storage of an object whose endpoint is deleted or never existed, once nothing is in progress. Requires that D1
   * confirms it: until then only the object's rows record that a deletion has begun.
   */
  async discard(): Promise<void> {
    const state = this.forgettable()
    if (!state || (await isKnown(this.core.env, state)) || !this.forgettable()) return
    this.planned = false
    this.scaleAtMs = null
    await this.rows.deleteAll()
  }

  /** The state if nothing in it is needed any more; else null. */
  private forgettable(): SqlState | null {
    const opened = this.rows.present
    if (!opened || opened.audit.size > 0 || this.core.placing.inFlight.size > 0) return null
    return liveConfig(opened.state) === null && hasNothing(opened.state) ? opened.state : null
  }

  wakeAtMs(): number | null {
    return this.rows.present?.state.meta.alarmAtMs() ?? null
  }

  /** The clock was set (CLK-3, CLK-4): an empty commit moves the deadlines and the alarm. */
  stepped(stepMs: number): void {
    if (!this.planned) return
    this.stepMs += stepMs
    this.core.slots.move(stepMs)
    void this.transact(() => undefined).catch(() => undefined)
  }

  private reload(takeBack: (state: SqlState) => void): void {
    const { state, audit } = this.rows.open()
    takeBack(state)
    audit.reload()
  }

  private begin(tx: Tx): void {
    const { notes, state } = this.rows.open()
    notes.discard()
    state.begin(tx.nowMs)
    moveDeadlines(tx, this.planned ? this.stepMs : stepOverRestOf(tx))
    beginCommit(tx, !this.planned)
    if (!this.planned) doubtRequests(tx, SLOT_LEASE_MS)
  }

  private end(tx: Tx): CommitEnd {
    const end = endCommit(tx, !this.planned)
    if (end.scaleAtMs !== undefined) this.scaleAtMs = end.scaleAtMs
    const { state, outbox, audit, alarm } = this.rows.open()
    state.end(tx.nowMs)
    const dueAtMs = nextDueAtMs(state, tx.nowMs, this.core.placing.inFlight)
    const forgetAtMs = liveConfig(state) ? null : tx.nowMs + DELETE_AFTER_MS
    const bulkAtMs = state.bulks.hasRunning ? tx.nowMs : null
    const notifyAtMs = earliest([outbox.dueAtMs(tx.nowMs), audit.dueAtMs(tx.nowMs)])
    alarm.arm(earliest([dueAtMs, this.scaleAtMs, notifyAtMs, forgetAtMs, bulkAtMs]), tx.nowMs, alarmTrustOf(tx))
    state.meta.end()
    return end
  }
}
