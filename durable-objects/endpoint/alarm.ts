import type { MetaValues } from '../../src/queue/state.ts'

/** The one alarm of an endpoint. Deadline columns are the truth; the alarm only makes sure somebody looks. */
export class Alarm {
  private readonly storage: Pick<DurableObjectStorage, 'setAlarm' | 'deleteAlarm'>
  private readonly meta: Pick<MetaValues, 'alarmAtMs' | 'setAlarmAtMs'>

  constructor(storage: Pick<DurableObjectStorage, 'setAlarm' | 'deleteAlarm'>, meta: Pick<MetaValues, 'alarmAtMs' | 'setAlarmAtMs'>) {
    this.storage = storage
    this.meta = meta
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
    // An alarm that is early costs one wake-up; moving it with every ping would cost a write each (LSE-24).
    if (armed !== null && armed > nowMs && armed <= atMs) return
    this.meta.setAlarmAtMs(atMs)
    void this.storage.setAlarm(atMs)
  }

  /** The alarm fired and is no longer set. */
  fired(): void {
    this.meta.setAlarmAtMs(null)
  }
}
