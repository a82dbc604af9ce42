import { logEvent } from '../../src/platform/log.ts'
import type { Alarms } from '../alarms.ts'
import type { DesiredState } from './desired-state.ts'
import type { HostGpuHealth } from './gpu-health.ts'
import { HOUSEKEEPING_TIMER, type Housekeeping, MINUTE_TIMER } from './housekeeping.ts'
import { type HostOverlays, OVERLAYS_TIMER } from './overlays.ts'
import { DEADLINES_TIMER } from './pods/deadlines.ts'
import { IDLE_TIMER } from './pods/idle-stops.ts'
import { type HostPods, MARKS_TIMER, MOVES_TIMER } from './pods/pods.ts'
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
  overlays: HostOverlays
  desired: DesiredState
  now(): number
}

/** What the host's object looks at by itself, when the alarm fires. */
export class HostTimers {
  private readonly deps: HostTimersDeps

  constructor(deps: HostTimersDeps) {
    this.deps = deps
  }

  /** Does what is due. What fails is done again soon, and holds up no other. */
  async ring(): Promise<void> {
    const { alarms, store, now } = this.deps
    const due = alarms.due(now())
    // The alarm of a release that had no timers was about presence.
    for (const timer of due.length > 0 ? due : [{ name: PRESENCE_TIMER, dueAtMs: now() }]) {
      try {
        await this.look(timer.name)
        alarms.clear(timer)
      } catch (error) {
        // The platform gives up on an alarm that keeps failing; then nobody would ever notice that the host is gone.
        logEvent('error', 'host alarm failed', { hostId: store.hostId(), timer: timer.name, error })
        await alarms.set(timer.name, now() + ALARM_RETRY_MS)
      }
    }
    await alarms.arm()
  }

  private async look(timer: string): Promise<void> {
    const { store, pods, silence, removal, presence, gpuHealth, housekeeping, overlays, desired } = this.deps
    const hostId = store.hostId()
    if (timer === MARKS_TIMER && hostId !== null) await pods.lookAtMarked(hostId)
    if (timer === MOVES_TIMER && hostId !== null) await pods.moveAway(hostId)
    if (timer === DEADLINES_TIMER && hostId !== null) await pods.lookAtDeadlines(hostId)
    if (timer === IDLE_TIMER && hostId !== null) await pods.lookAtIdle(hostId)
    if (timer === SILENCE_TIMER && hostId !== null) await silence.settle(hostId)
    if (timer === REMOVAL_TIMER && hostId !== null) await removal.look(hostId)
    if (timer === OVERLAYS_TIMER && hostId !== null && (await overlays.look(hostId))) await desired.broadcast()
    if (timer === HOUSEKEEPING_TIMER && hostId !== null) await housekeeping.look()
    if (timer === MINUTE_TIMER && hostId !== null) await housekeeping.lookEachMinute()
    // Whoever waits for room on a host that beats again is told at once.
    if (timer === PRESENCE_TIMER || timer === SILENCE_TIMER) {
      await presence.check()
      await gpuHealth.apply()
    }
  }
}
