import { LEASE_INTERVALS } from '../../src/domain/job/job.ts'
import type { MetaValues } from '../../src/queue/state.ts'

/** How early it may be, in ping intervals: one less than a lease lasts. */
const EARLY_INTERVALS = LEASE_INTERVALS - 1

/** The one alarm of an endpoint. Deadline columns are the truth; the alarm only makes sure somebody looks. */
export class Alarm {
  private readonly storage: Pick<DurableObjectStorage, 'setAlarm' | 'deleteAlarm'>
  private readonly meta: Pick<MetaValues, 'alarmAtMs' | 'setAlarmAtMs'>
  private readonly pingIntervalMs: number

  constructor(
    storage: Pick<DurableObjectStorage, 'setAlarm' | 'deleteAlarm'>,
    meta: Pick<MetaValues, 'alarmAtMs' | 'setAlarmAtMs'>,
    pingIntervalMs: number,
  ) {
    this.storage = storage
    this.meta = meta
    this.pingIntervalMs = pingIntervalMs
  }

  /** Sets the alarm for the next deadline, or takes it away. Called at the end of every commit, so no change can leave it stale. */
  arm(dueAtMs: number | null, nowMs: number): void {
    const armed = this.meta.alarmAtMs()
    if (dueAtMs === null) {
      if (armed === null) return
      this.meta.setAlarmAtMs(null)
      void this.storage.deleteAlarm()
      return
    }
    const atMs = Math.max(nowMs + 1, dueAtMs)
    // Moving it with every ping would cost a write each (LSE-24). It is moved before it comes: one that a busy machine lets fire late would
    // read as an absence of the plane (PP-13).
    if (armed !== null && armed > nowMs && armed <= atMs && atMs - armed < EARLY_INTERVALS * this.pingIntervalMs) return
    this.meta.setAlarmAtMs(atMs)
    void this.storage.setAlarm(atMs)
  }

  /** The alarm fired and is no longer set. */
  fired(): void {
    this.meta.setAlarmAtMs(null)
  }
}
