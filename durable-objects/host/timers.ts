import { logEvent } from '../../src/platform/log.ts'
import type { Alarms } from '../alarms.ts'
import type { DesiredState } from './desired-state.ts'
import type { HostGpuHealth } from './gpu-health.ts'
import { HOUSEKEEPING_TIMER, type Housekeeping, MINUTE_TIMER } from './housekeeping.ts'
import { type DesiredOverlays, OVERLAYS_TIMER } from './overlays.ts'
import { DEADLINES_TIMER } from './pods/deadlines.ts'
import { IDLE_TIMER } from './pods/idle-stops.ts'
import { type HostPods, INTENTS_TIMER, MOVES_TIMER } from './pods/pods.ts'
import { type HostPresence, PRESENCE_TIMER } from './presence.ts'
import { type HostRemoval, REMOVAL_TIMER } from './removal.ts'
import { type HostSilence, SILENCE_TIMER } from './silence.ts'
import type { WorkloadStore } from './workload-store.ts'

const ALARM_RETRY_MS = 5_000

export interface HostTimersDeps {
  store: WorkloadStore
  alarms: Alarms
  presence: HostPresence
  gpuHealth: HostGpuHealth
  silence: HostSilence
  pods: HostPods
  removal: HostRemoval
  housekeeping: Housekeeping
  overlays: DesiredOverlays
  desired: DesiredState
  now(): number
}

/** Handles the timers of the host's object when its alarm fires. */
export class HostTimers {
  private readonly deps: HostTimersDeps

  constructor(deps: HostTimersDeps) {
    this.deps = deps
  }

  /** Handles due timers. A failing one is retried soon and does not block the others. */
  async ring(): Promise<void> {
    const { alarms, store, now } = this.deps
    const due = alarms.due(now())
    // Without a due timer the alarm was set by a release without timers, which used it for presence.
    for (const timer of due.length > 0 ? due : [{ name: PRESENCE_TIMER, dueAtMs: now() }]) {
      try {
        await this.fire(timer.name)
        alarms.clear(timer)
      } catch (error) {
        // The platform gives up on an alarm that fails repeatedly; then the loss of the host would go unnoticed.
        logEvent('error', 'host alarm failed', { hostId: store.hostId(), timer: timer.name, error })
        await alarms.set(timer.name, now() + ALARM_RETRY_MS)
      }
    }
    await alarms.arm()
  }

  private async fire(timer: string): Promise<void> {
    const { store, pods, silence, removal, presence, gpuHealth, housekeeping, overlays, desired } = this.deps
    const hostId = store.hostId()
    if (timer === INTENTS_TIMER && hostId !== null) await pods.syncPending(hostId)
    if (timer === MOVES_TIMER && hostId !== null) await pods.moveAway(hostId)
    if (timer === DEADLINES_TIMER && hostId !== null) await pods.checkDeadlines(hostId)
    if (timer === IDLE_TIMER && hostId !== null) await pods.checkIdle(hostId)
    if (timer === SILENCE_TIMER && hostId !== null) await silence.exclude(hostId)
    if (timer === REMOVAL_TIMER && hostId !== null) await removal.check(hostId)
    if (timer === OVERLAYS_TIMER && hostId !== null && (await overlays.check(hostId))) await desired.broadcast()
    if (timer === HOUSEKEEPING_TIMER && hostId !== null) await housekeeping.run()
    if (timer === MINUTE_TIMER && hostId !== null) await housekeeping.runEachMinute()
    // Placements that wait for capacity on a host that beats again are notified at once.
    if (timer === PRESENCE_TIMER || timer === SILENCE_TIMER) {
      await presence.check()
      await gpuHealth.apply()
    }
  }
}
