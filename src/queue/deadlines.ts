import type { EndpointCore } from '../../durable-objects/endpoint/core.ts'
import { LEASE_INTERVALS } from '../domain/job/job.ts'
import { noTakeDueAtMs, silentAtMs, type Worker, workerDueAtMs } from '../domain/worker/worker.ts'
import type { Effects } from './effects.ts'
import { endLeases, failWorker, isSilent, silenceReason } from './transitions.ts'

/** Jobs settled in one commit; the rest follow at once in the next. */
const DUE_BATCH = 200
/** An outside call that takes longer than this is looked at again. */
const IN_FLIGHT_LIMIT_MS = 30_000
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
    const isEnough = this.core.outbox.meter()
    for (const seq of this.core.jobs.due(nowMs, DUE_BATCH)) {
      if (isEnough()) break
      this.core.settle(seq, effects)
    }
    for (const worker of this.core.workers.all()) this.settleWorker(worker, nowMs, effects)
    effects.scale = true
  }

  /** Sets the alarm to the earliest deadline. Called at the end of every transaction, so no change can leave it stale. */
  rearm(): void {
    const nowMs = this.core.now()
    const held = this.core.jobs.heldCounts()
    const dues = this.core.workers.all().map((worker) => this.workerDueAtMs(worker, held, nowMs))
    const known = [this.core.jobs.nextDueAtMs(), this.scaleAtMs, this.core.outbox.dueAtMs(nowMs), ...dues].filter(
      (due): due is number => due !== null,
    )
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
      if (worker.phase !== 'READY' && worker.phase !== 'DRAINING') continue
      this.core.workers.seen(worker.id, nowMs)
      this.core.workers.asked(worker.id, nowMs)
    }
  }

  private settleReady(worker: Worker, nowMs: number, effects: Effects): void {
    if (isSilent(this.core, worker, nowMs)) failWorker(this.core, worker, silenceReason(this.core), nowMs, effects)
    else if (nowMs >= noTakeDueAtMs(worker)) failWorker(this.core, worker, 'it pings, but stopped asking for work', nowMs, effects)
  }

  // Past its time of being shown. One whose host has not confirmed the removal goes on asking for it, unseen.
  private hideFailed(worker: Worker): void {
    if (worker.released) this.core.workers.remove(worker.id)
    else this.core.workers.save({ ...worker, phase: 'DRAINING' })
  }

  // Placements and removals under way end in a transaction of their own; waking for them meanwhile would spin. A draining worker is
  // removed once its last job has ended; until then only its silence is watched.
  private workerDueAtMs(worker: Worker, held: ReadonlyMap<string, number>, nowMs: number): number | null {
    if (worker.phase === 'DRAINING' && held.has(worker.id)) return silentAtMs(worker, this.lostAfterMs)
    const dueAtMs = workerDueAtMs(worker, this.lostAfterMs)
    return dueAtMs !== null && this.core.inFlight.has(worker.id) ? Math.max(dueAtMs, nowMs + IN_FLIGHT_LIMIT_MS) : dueAtMs
  }

  private get lostAfterMs(): number {
    return LEASE_INTERVALS * this.core.settings.workerPingIntervalMs
  }

  private settleWorker(worker: Worker, nowMs: number, effects: Effects): void {
    // LSE-7: its container is being removed anyway, but its jobs do not wait for that.
    if (worker.phase === 'DRAINING' && isSilent(this.core, worker, nowMs))
      endLeases(this.core, worker.id, silenceReason(this.core), nowMs, true, effects)
    const dueAtMs = workerDueAtMs(worker, this.lostAfterMs)
    if (dueAtMs === null || nowMs < dueAtMs) return
    if (worker.phase === 'STARTING')
      failWorker(this.core, worker, 'the worker did not ask for work within 7 minutes of its start', nowMs, effects)
    if (worker.phase === 'READY') this.settleReady(worker, nowMs, effects)
    if (worker.phase === 'FAILED' && nowMs >= (worker.forgetAtMs ?? 0)) this.hideFailed(worker)
  }
}
