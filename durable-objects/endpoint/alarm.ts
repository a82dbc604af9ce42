import type { MetaValues } from '../../src/queue/state.ts'

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
    if (armed === atMs) return
    // An alarm a little early costs one wake-up and no write; moving it with every ping would cost a write each.
    if (armed !== null && armed > nowMs && armed < atMs && atMs - armed < this.pingIntervalMs) return
    this.meta.setAlarmAtMs(atMs)
    void this.storage.setAlarm(atMs)
  }

  /** The alarm fired and is no longer set. */
  fired(): void {
    this.meta.setAlarmAtMs(null)
  }
}
