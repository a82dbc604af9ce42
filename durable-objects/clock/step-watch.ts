import { stepBetween } from '../../src/domain/clock/step.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { Timers } from './timers.ts'

export interface Stepped {
  /** The clock was set by so many milliseconds. Called once for a step, from any line that looks at the clock. */
  stepped(stepMs: number): void
  /** When it is to be woken, for one that also wants to hear of steps forward (CLK-4); null: not at all. */
  wakeAtMs?(): number | null
}

/** Finds out that the clock was set while an object runs: from every look at it that the object's timers make. */
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
