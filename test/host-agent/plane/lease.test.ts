import { describe, test, vi } from 'vitest'
import { LeaseWatch } from '../../../src/host-agent/plane/lease.ts'
import { TakeTimes } from '../../../src/host-agent/plane/take-times.ts'

describe('lease watch', () => {
  test('[HOST-36] acts first 25 s after the acknowledged beat was sent, and then at the set times', ({ expect }) => {
    vi.useFakeTimers()
    try {
      const silences: number[] = []
      const startMs = performance.now()
      const lease = new LeaseWatch((sinceMs, nowMs) => {
        silences.push(nowMs - sinceMs)
        return silences.length < 2 ? 40_000 : null
      })
      vi.advanceTimersByTime(20_000)
      lease.renew(performance.now() - 1_000)
      vi.advanceTimersByTime(23_999)
      expect(silences).toEqual([])
      vi.advanceTimersByTime(1)
      expect(silences).toEqual([25_000])
      vi.advanceTimersByTime(14_999)
      expect(silences).toEqual([25_000])
      vi.advanceTimersByTime(600_000)
      expect(silences).toEqual([25_000, 40_000])
      expect(performance.now() - startMs).toBeGreaterThan(600_000)
      lease.renew(performance.now())
      vi.advanceTimersByTime(24_999)
      lease.renew(performance.now())
      vi.advanceTimersByTime(24_999)
      expect(silences).toHaveLength(2)
      lease.close()
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('times of takes', () => {
  const MAX_MS = 600_000
  const plan = (times: TakeTimes, silentMs: number, maxMs = MAX_MS) =>
    times.planStops(['old', 'young', 'idle'], { sinceMs: 1_000_000, nowMs: 1_000_000 + silentMs, maxMs })

  test('[HOST-36] a worker is stopped 10 s before its newest job has waited as long as it ran, at least 25 s', ({ expect }) => {
    const times = new TakeTimes()
    times.note('old', 0)
    times.note('old', 900_000)
    times.note('young', 990_000)
    expect(plan(times, 25_000)).toEqual({ due: ['young', 'idle'], nextMs: 90_000 })
    expect(plan(times, 89_999)).toEqual({ due: ['young', 'idle'], nextMs: 90_000 })
    expect(plan(times, 90_000)).toEqual({ due: ['old', 'young', 'idle'], nextMs: null })
  })

  test('[HOST-36] are bounded by the wait of the plane; without one no worker is waited for', ({ expect }) => {
    const times = new TakeTimes()
    times.note('old', 0)
    expect(plan(times, 25_000)).toEqual({ due: ['young', 'idle'], nextMs: MAX_MS - 10_000 })
    expect(plan(times, 25_000, 0)).toEqual({ due: ['old', 'young', 'idle'], nextMs: null })
  })

  test('[HOST-111] are the start of this agent process for workers of a previous one, so no job counts as older than it is', ({
    expect,
  }) => {
    const times = new TakeTimes()
    times.adopt(['old', 'young'], 920_000)
    times.note('young', 990_000)
    expect(plan(times, 25_000)).toEqual({ due: ['young', 'idle'], nextMs: 70_000 })
  })

  test('[HOST-36] are forgotten for workers that are gone', ({ expect }) => {
    const times = new TakeTimes()
    times.note('old', 0)
    times.keep(['young'])
    expect(plan(times, 25_000).due).toContain('old')
  })
})
