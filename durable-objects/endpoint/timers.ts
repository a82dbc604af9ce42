import { LEASE_INTERVALS } from '../../src/domain/job.ts'
import { type Worker, workerDueAtMs } from '../../src/domain/worker.ts'
import type { EndpointCore } from './core.ts'
import type { Effects } from './effects.ts'
import { failWorker, silenceReason } from './transitions.ts'

/** Jobs settled in one commit; the rest follow at once in the next. */
const DUE_BATCH = 200
/** An alarm that is later than this many ping intervals was not late by itself: the plane was away. */
const OUTAGE_INTERVALS = 2

/** All deadlines of an endpoint over its one alarm. The deadline columns are the truth; the alarm only makes sure somebody looks. */
export class Timers {
  private readonly core: EndpointCore
  /** Set by the scaler: when to decide again although nothing happened. */
  scaleAtMs: number | null = null

  constructor(core: EndpointCore) {
    this.core = core
  }

  /** Applies every deadline that has passed. */
  settleDue(effects: Effects): void {
    const nowMs = this.core.now()
    // By number, not by row: settling one job may fail its worker and with it end the leases of later ones.
    for (const seq of this.core.jobs.due(nowMs, DUE_BATCH)) this.core.settle(seq, effects)
    for (const worker of this.core.workers.all()) this.settleWorker(worker, nowMs, effects)
    effects.scale = true
  }

  /** Sets the alarm to the earliest deadline. Called at the end of every transaction, so no change can leave it stale. */
  rearm(): void {
    const nowMs = this.core.now()
    const dues = this.core.workers.all().map((worker) => workerDueAtMs(worker, this.lostAfterMs))
    const known = [this.core.jobs.nextDueAtMs(), this.scaleAtMs, ...dues].filter((due): due is number => due !== null)
    if (known.length === 0) {
      if (this.core.meta.alarmAtMs() !== null) {
        this.core.meta.setAlarmAtMs(null)
        void this.core.ctx.storage.deleteAlarm()
      }
      return
    }
    const atMs = Math.max(nowMs + 1, Math.min(...known))
    const armed = this.core.meta.alarmAtMs()
    if (armed === atMs) return
    // An alarm a little early costs one wake-up and no write; moving it with every ping would cost a write each.
    if (armed !== null && armed > nowMs && armed < atMs && atMs - armed < this.core.settings.workerPingIntervalMs) return
    this.core.meta.setAlarmAtMs(atMs)
    void this.core.ctx.storage.setAlarm(atMs)
  }

  /** The alarm fired and is no longer set. */
  alarmFired(): void {
    this.core.meta.setAlarmAtMs(null)
  }

  /**
   * When the plane itself was away (its alarm is far overdue), silence of the workers proves nothing: their leases and their own
   * deadlines start again from now, once.
   */
  absorbOutage(nowMs: number): void {
    const armed = this.core.meta.alarmAtMs()
    if (armed === null || nowMs - armed < OUTAGE_INTERVALS * this.core.settings.workerPingIntervalMs) return
    this.core.meta.setAlarmAtMs(null)
    for (const job of this.core.jobs.running()) {
      this.core.jobs.save(job, { ...job, leaseUntilMs: Math.max(job.leaseUntilMs ?? 0, nowMs + this.lostAfterMs) })
    }
    for (const worker of this.core.workers.all()) {
      if (worker.phase === 'READY') this.core.workers.seen(worker.id, nowMs)
    }
  }

  private get lostAfterMs(): number {
    return LEASE_INTERVALS * this.core.settings.workerPingIntervalMs
  }

  private settleWorker(worker: Worker, nowMs: number, effects: Effects): void {
    const dueAtMs = workerDueAtMs(worker, this.lostAfterMs)
    if (dueAtMs === null || nowMs < dueAtMs) return
    if (worker.phase === 'STARTING')
      failWorker(this.core, worker, 'the worker did not ask for work within 7 minutes of its start', nowMs, effects)
    if (worker.phase === 'READY') failWorker(this.core, worker, silenceReason(this.core), nowMs, effects)
    if (worker.phase === 'FAILED' && worker.hostId === null) this.core.workers.remove(worker.id)
  }
}
