import fc from 'fast-check'
import { partMicros } from '../../../src/domain/money.ts'
import {
  countSeries,
  type EndpointCounts,
  type EndpointSample,
  spendSeries,
  stepsOf,
  type Watch,
  watchCounts,
} from '../../../src/domain/worker/timeline.ts'
import { describe, expect, it } from '../../support/unit.ts'

const MINUTE_MS = 60_000
const NONE: EndpointCounts = { queued: 0, inProgress: 0, starting: 0, throttled: 0, ready: 0, failed: 0 }

function noted(history: readonly (readonly [number, Partial<EndpointCounts>])[]): EndpointSample[] {
  let watch: Watch = { noted: null, since: null }
  const all: EndpointSample[] = []
  for (const [atMs, counts] of history) {
    const result = watchCounts(watch, { ...NONE, ...counts }, atMs)
    watch = result.watch
    all.push(...result.notes)
  }
  return watch.since ? [...all, watch.since] : all
}

const step = fc.record({ queued: fc.nat(5), inProgress: fc.nat(3), ready: fc.constantFrom(0, 0, 0, 1), after: fc.nat(90_000) })

describe('the time line of an endpoint', () => {
  it('[HIS-20] jobs are noted once a minute, workers at once, and nothing where nothing changes', () => {
    expect(
      noted([
        [0, {}],
        [1, {}],
      ]),
    ).toEqual([])
    const busy = Array.from({ length: 600 }, (_, n) => [n * 100, { queued: n % 2, ready: 1 }] as const)
    expect(noted(busy)).toHaveLength(2)
    expect(
      noted([
        [0, { starting: 1 }],
        [5, { ready: 1 }],
        [9, {}],
      ]).map(({ atMs, ready }) => [atMs, ready]),
    ).toEqual([
      [0, 0],
      [5, 1],
      [9, 0],
    ])
  })

  it('[HIS-20] at every full minute the time line has the state of at most a minute ago, and the maximum is never lost', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 80 }), (steps) => {
        let atMs = 0
        const history = steps.map(({ after, ...counts }) => {
          atMs += after
          return [atMs, { ...NONE, ...counts }] as const
        })
        const endMs = atMs + 1
        const window = { fromMs: 0, stepMs: endMs, count: 1 }
        const series = countSeries(noted(history), window, endMs)
        for (const { name, points, maxima } of series) {
          expect(maxima[0] ?? 0).toBe(Math.max(...history.map(([, counts]) => counts[name])))
          expect(points[0] ?? 0).toBe(history.at(-1)?.[1][name])
        }
        const fine = countSeries(noted(history), { fromMs: 0, stepMs: MINUTE_MS, count: Math.ceil(endMs / MINUTE_MS) }, endMs)
        const ready = fine.find(({ name }) => name === 'ready')
        for (const [at, value] of (ready?.points ?? []).entries()) {
          const last = history.findLast(([ms]) => ms < Math.min((at + 1) * MINUTE_MS, endMs + 1))
          expect(value ?? 0).toBe(last?.[1].ready ?? 0)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('[HIS-21] a sample holds until the next one, a maximum counts in its step alone, and before the first nothing is known', () => {
    const sample = (atMs: number, queued: number, mostQueued = queued): EndpointSample => ({
      ...NONE,
      atMs,
      queued,
      mostQueued,
      mostInProgress: 0,
    })
    const window = { fromMs: 100, stepMs: 10, count: 5 }
    const [queued] = countSeries([sample(115, 2, 9), sample(131, 4)], window, 1_000)
    expect(queued).toEqual({ name: 'queued', points: [null, 2, 2, 4, 4], maxima: [null, 9, 2, 4, 4] })
    const [held] = countSeries([sample(20, 7, 50), sample(125, 0)], window, 1_000)
    expect(held).toEqual({ name: 'queued', points: [7, 7, 0, 0, 0], maxima: [7, 7, 7, 0, 0] })
  })

  it('[HIS-21] spend in steps sums to the whole, however it is cut', () => {
    const charged = fc.record({
      fromMs: fc.nat(9_000_000),
      length: fc.integer({ min: 1, max: 9_000_000 }),
      nanosPerHour: fc.nat(5_000_000_000),
    })
    const amount = ({ fromMs, nanosPerHour }: { fromMs: number; nanosPerHour: number }, part: { fromMs: number; toMs: number }) =>
      partMicros(nanosPerHour, fromMs, part)
    fc.assert(
      fc.property(fc.array(charged, { maxLength: 10 }), fc.integer({ min: 20_000, max: 3_600_000 }), (parts, stepMs) => {
        const intervals = parts.map(({ fromMs, length, nanosPerHour }) => ({ fromMs, toMs: fromMs + length, nanosPerHour }))
        const steps = spendSeries(intervals, { fromMs: 0, stepMs, count: Math.ceil(18_000_000 / stepMs) }, 20_000_000, amount)
        const whole = intervals.reduce((sum, interval) => sum + amount(interval, interval), 0)
        expect(steps.reduce((sum, value) => sum + value, 0)).toBe(whole)
      }),
    )
  })

  it('[HIS-21] steps are multiples of 10 s, at most 1 500, over 30 days at most', () => {
    const nowMs = Date.parse('2026-06-01T12:00:00Z')
    expect(stepsOf({ fromMs: null, toMs: null, stepMs: null }, nowMs)).toEqual({ fromMs: nowMs - 86_400_000, stepMs: 300_000, count: 288 })
    expect(stepsOf({ fromMs: nowMs, toMs: nowMs - 1, stepMs: null }, nowMs)).toBeNull()
    fc.assert(
      fc.property(fc.nat(90 * 86_400_000), fc.option(fc.integer({ min: 5_000, max: 86_400_000 })), (age, stepMs) => {
        const steps = stepsOf({ fromMs: nowMs - age - 1, toMs: null, stepMs }, nowMs)
        expect(steps?.count).toBeLessThanOrEqual(1_500)
        expect((steps?.stepMs ?? 1) % 10_000).toBe(0)
      }),
    )
  })
})
