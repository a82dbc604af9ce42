import { stepBetween } from '../../src/domain/clock/step.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { Timers } from './timers.ts'

/** An object that corrects its deadlines after a step of the clock (CLK-3). */
export interface Stepped {
  /** Called once per clock step, with its size in milliseconds, from any code that reads the clock. */
  stepped(stepMs: number): void
  /** The time at which the object is due to wake, so that steps forward are detected too (CLK-4); null when there is none. */
  wakeAtMs?(): number | null
}

/** Detects clock steps while an object runs, on every clock read of the object's timers. */
export function watchSteps(timers: Timers, object: Stepped): void {
  let steppedAtMs: number | null = null
  timers.onPassed = (beforeMs, nowMs) => {
    const stepMs = stepBetween({ beforeMs, nowMs, wakeAtMs: object.wakeAtMs?.() ?? null, steppedAtMs })
    if (stepMs === 0) return
    steppedAtMs = nowMs
    logEvent('warn', 'the clock was set, or the plane stood still', { stepMs })
    object.stepped(stepMs)
  }
}
