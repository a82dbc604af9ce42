import { expect, test } from 'vitest'
import { readQuery, SeriesQuery } from '../../../src/contract/jobs/queries.ts'
import { bucketRequests } from '../../../src/domain/job/request-series.ts'

const NOW = Date.UTC(2026, 0, 2, 10, 30, 15)
const MINUTE = Math.floor(NOW / 60_000)
const sample = (minutesAgo: number, completed: number, failed = 0, retried = 0) => ({
  minute: MINUTE - minutesAgo,
  completed,
  failed,
  retried,
})
const NONE = { completed: 0, failed: 0, retried: 0 }

test('[HLT-12] requests after a sample belong to its minute; the newest point reaches to the current totals', () => {
  const series = bucketRequests([sample(59, 10), sample(2, 13, 1), sample(0, 13, 4, 1)], { completed: 20, failed: 4, retried: 1 }, 'm', NOW)
  expect(series).toHaveLength(60)
  expect(series[0]).toEqual({ start: '2026-01-02T09:31:00Z', completed: 3, failed: 1, retried: 0 })
  expect(series[57]).toEqual({ start: '2026-01-02T10:28:00Z', completed: 0, failed: 3, retried: 1 })
  expect(series[59]).toEqual({ start: '2026-01-02T10:30:00Z', completed: 7, failed: 0, retried: 0 })
  expect(series.slice(1, 57).every((bucket) => bucket.completed === 0)).toBe(true)
})

test('[HLT-12] hours and days are those of UTC', () => {
  const samples = [sample(31, 0), sample(30, 1), sample(0, 2)]
  const hours = bucketRequests(samples, { ...NONE, completed: 4 }, 'h', NOW)
  expect(hours).toHaveLength(24)
  expect(hours.slice(-2)).toEqual([
    { start: '2026-01-02T09:00:00Z', ...NONE, completed: 1 },
    { start: '2026-01-02T10:00:00Z', ...NONE, completed: 3 },
  ])
  const days = bucketRequests(samples, { ...NONE, completed: 4 }, 'd', NOW)
  expect(days.map(({ start }) => start.slice(0, 10))).toEqual(
    [27, 28, 29, 30, 31, 1, 2].map((day) => (day > 2 ? `2025-12-${day}` : `2026-01-0${day}`)),
  )
  expect(days.at(-1)?.completed).toBe(4)
})

test('[HLT-12] samples older than the series are left out', () => {
  const series = bucketRequests([sample(60, 0), sample(59, 5)], { ...NONE, completed: 6 }, 'm', NOW)
  expect(series.reduce((sum, { completed }) => sum + completed, 0)).toBe(1)
  expect(bucketRequests([], { ...NONE, completed: 9 }, 'h', NOW).every(({ completed }) => completed === 0)).toBe(true)
})

test('[HLT-12] an unknown interval is refused; the default is hours', () => {
  const read = (query: string) => readQuery(SeriesQuery, new URLSearchParams(query))
  for (const interval of ['', 'x', 'toString', 'hh']) {
    expect(read(`interval=${interval}`)).toEqual({ ok: false, fault: "$.interval: value must be one of 'm', 'h', 'd'" })
  }
  for (const interval of ['m', 'h', 'd']) expect(read(`interval=${interval}`)).toEqual({ ok: true, values: { interval } })
  expect(read('')).toEqual({ ok: true, values: { interval: 'h' } })
})
