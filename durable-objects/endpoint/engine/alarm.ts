import { LEASE_INTERVALS } from '../../../src/domain/job/lease.ts'
import type { AlarmTrust, MetaValues } from '../../../src/queue/state.ts'

/** Largest lead of the alarm over the next deadline, in ping intervals: one less than the length of a lease. */
const EARLY_INTERVALS = LEASE_INTERVALS - 1

/** The single alarm of an endpoint. Deadline columns are authoritative; the alarm only makes sure that they are checked. */
export class Alarm {
  private readonly storage: Pick<DurableObjectStorage, 'setAlarm' | 'deleteAlarm'>
  private readonly meta: Pick<MetaValues, 'alarmAtMs' | 'alarmTrust' | 'setAlarmAtMs'>
  private readonly pingIntervalMs: number

  constructor(
    storage: Pick<DurableObjectStorage, 'setAlarm' | 'deleteAlarm'>,
    meta: Pick<MetaValues, 'alarmAtMs' | 'alarmTrust' | 'setAlarmAtMs'>,
    pingIntervalMs: number,
  ) {
    this.storage = storage
    this.meta = meta
    this.pingIntervalMs = pingIntervalMs
  }

  /**
   * Sets the alarm for the next deadline, or deletes it. Called at the end of every commit, so that no change leaves it stale. `trust`: the
   * agents that answer for workers (CHN-30).
   */
  arm(dueAtMs: number | null, nowMs: number, trust: AlarmTrust | null = null): void {
    const armed = this.meta.alarmAtMs()
    if (dueAtMs === null) {
      if (armed === null) return
      this.meta.setAlarmAtMs(null)
      void this.storage.deleteAlarm()
      return
    }
    const atMs = Math.max(nowMs + 1, dueAtMs)
    // Moving the alarm with every ping would cost a write each (LSE-24). It is moved before it fires, because an alarm that fires late on a
    // busy machine would count as an absence of the plane (LSE-34).
    // Half of the time until a far deadline is enough, because it moves as well.
    const earlyMs = Math.max(EARLY_INTERVALS * this.pingIntervalMs, (atMs - nowMs) / 2)
    if (armed !== null && armed > nowMs && armed <= atMs && atMs - armed < earlyMs) {
      if (trust && !isEqual(trust, this.meta.alarmTrust())) this.meta.setAlarmAtMs(armed, trust)
      return
    }
    this.meta.setAlarmAtMs(atMs, trust)
    void this.storage.setAlarm(atMs)
  }

  /** Records that the alarm fired and is not set any more. */
  fired(): void {
    this.meta.setAlarmAtMs(null)
  }
}

function isEqual({ hosts }: AlarmTrust, known: AlarmTrust | null): boolean {
  return known !== null && hosts.join() === known.hosts.join()
}
