import { Timers } from '../../../durable-objects/clock/timers.ts'
import { describe, expect, it } from '../../support/unit.ts'

/** The clocks of an object as the runtime shows them: its date stands after a step back, and a sleep takes real time. */
class Clocks {
  realMs = 0
  offsetMs = 1_000_000
  private dateAtMs = 0
  private readonly sleeps: { untilMs: number; wake: () => void }[] = []

  readonly source = {
    dateMs: () => {
      this.dateAtMs = Math.max(this.dateAtMs, this.source.wallMs())
      return this.dateAtMs
    },
    wallMs: () => this.realMs + this.offsetMs,
    soon: (run: () => void) => void setImmediate(run),
    sleep: (ms: number) => new Promise<void>((wake) => this.sleeps.push({ untilMs: this.realMs + ms, wake })),
  }

  /** Real time passes, in steps in which an awake task can sleep again. */
  async pass(ms: number): Promise<void> {
    for (const untilMs = this.realMs + ms; this.realMs < untilMs; ) {
      this.realMs += Math.min(500, untilMs - this.realMs)
      for (const sleep of this.sleeps) if (sleep.untilMs <= this.realMs) sleep.wake()
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

describe('the timers of an object', () => {
  it.each([
    ['is let alone', 0],
    ['is set back by an hour', -3_600_000],
    ['is set forward by an hour', 3_600_000],
  ])('[CLK-2] a timer is due after real time when the clock %s', async (_, stepMs) => {
    const clocks = new Clocks()
    const timers = new Timers(clocks.source)
    const fired: string[] = []
    timers.after(25_000, () => fired.push('before'))
    await clocks.pass(10_000)
    clocks.offsetMs += stepMs
    timers.after(5_000, () => fired.push('behind'))
    await clocks.pass(4_500)
    expect(fired).toEqual([])
    await clocks.pass(1_500)
    expect(fired).toEqual(['behind'])
    await clocks.pass(7_000)
    expect(fired, 'not early').toEqual(['behind'])
    // Late by as much as the object had slept when the clock was set.
    await clocks.pass(7_500)
    expect(fired).toEqual(['behind', 'before'])
  })

  it('[CLK-3] an object that only waits detects a step back within 5 s, and then has the right wall clock', async () => {
    const clocks = new Clocks()
    const timers = new Timers(clocks.source)
    const steps: number[] = []
    timers.onPassed = (beforeMs, nowMs) => nowMs < beforeMs && steps.push(nowMs - beforeMs)
    timers.after(60_000, () => {})
    await clocks.pass(3_000)
    clocks.offsetMs -= 90_000
    await clocks.pass(5_500)
    expect(steps).toHaveLength(1)
    expect(Math.abs((steps[0] ?? 0) + 90_000)).toBeLessThanOrEqual(5_500)
    await clocks.pass(200)
    expect(timers.readClock()).toBe(clocks.source.wallMs())
  })

  it('[CLK-2] a cancelled timer does not run', async () => {
    const clocks = new Clocks()
    const timers = new Timers(clocks.source)
    const fired: number[] = []
    timers.after(1_000, () => fired.push(1))()
    const stop = timers.every(1_000, () => fired.push(2))
    await clocks.pass(2_500)
    stop()
    await clocks.pass(5_000)
    expect(fired).toEqual([2, 2])
  })
})
