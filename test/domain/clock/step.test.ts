import { believable, stepBetween, stepOverRest } from '../../../src/domain/clock/step.ts'
import { describe, expect, it } from '../../support/unit.ts'

const HOUR_MS = 3_600_000
const quiet = { beforeMs: 100_000, nowMs: 100_000, wakeAtMs: null, steppedAtMs: null }

describe('steps of the wall clock', () => {
  it('[CLK-3] a clock that went back was set by that amount; a small correction is no step', () => {
    expect(stepBetween({ ...quiet, nowMs: 100_000 - HOUR_MS })).toBe(-HOUR_MS)
    expect(stepBetween({ ...quiet, nowMs: 99_000 })).toBe(-1_000)
    expect(stepBetween({ ...quiet, nowMs: 99_001 })).toBe(0)
  })

  it('[CLK-4] time far beyond the alarm was set or suspended; without an alarm, or slightly late, it has passed', () => {
    expect(stepBetween({ ...quiet, nowMs: 100_000 + HOUR_MS, wakeAtMs: 130_000 })).toBe(HOUR_MS)
    expect(stepBetween({ ...quiet, nowMs: 131_999, wakeAtMs: 130_000 })).toBe(0)
    expect(stepBetween({ ...quiet, nowMs: 100_000 + HOUR_MS })).toBe(0)
  })

  it('[CLK-4] of two late alarms in a row only the first is forgiven, so that a deadline comes', () => {
    expect(stepBetween({ beforeMs: 100_010, nowMs: 150_000, wakeAtMs: 140_000, steppedAtMs: 100_000 })).toBe(0)
    expect(stepBetween({ beforeMs: 102_000, nowMs: 150_000, wakeAtMs: 140_000, steppedAtMs: 100_000 })).toBe(48_000)
  })

  it('[CLK-3, CLK-4] across a rest the newest row shows a step back, and the alarm an outage', () => {
    expect(stepOverRest(100_000, 40_000, false)).toBe(-60_000)
    expect(stepOverRest(100_000, 160_000, false)).toBe(0)
    expect(stepOverRest(100_000, 160_000, true)).toBe(60_000)
    expect(stepOverRest(null, 160_000, true)).toBe(0)
  })

  it('[CLK-5] a retry further away than the longest pause is due', () => {
    expect(believable(HOUR_MS, 0, 60_000)).toBe(0)
    expect(believable(60_000, 0, 60_000)).toBe(60_000)
  })
})
