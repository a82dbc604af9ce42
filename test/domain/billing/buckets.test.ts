import fc from 'fast-check'
import { BUCKET_SIZES } from '../../../src/contract/billing/query.ts'
import { type Bucket, bucketStart, MAX_BUCKETS, resolveBuckets } from '../../../src/domain/billing/buckets.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NOW_MS = Date.parse('2026-06-17T15:30:10.250Z')

function bordersOf(result: ReturnType<typeof resolveBuckets>): string[] {
  if (!result.ok) throw new Error(result.problem.detail)
  const borders = [result.buckets[0]?.startMs ?? 0, ...result.buckets.map(({ endMs }) => endMs)]
  return borders.map((ms) => new Date(ms).toISOString().replace(/:00.000Z$/, ''))
}

describe('buckets of a bill', () => {
  it('[BIL-2] a window is moved outward to borders in UTC; weeks begin on Monday', () => {
    const asked = { startTime: '2026-06-17T01:20:00+02:00', endTime: '2026-06-18T00:00:00Z' }
    const shown = (size: (typeof BUCKET_SIZES)[number]) => bordersOf(resolveBuckets({ ...asked, bucketSize: size }, NOW_MS))
    expect(shown('day')).toEqual(['2026-06-16T00:00', '2026-06-17T00:00', '2026-06-18T00:00'])
    expect(shown('hour')).toHaveLength(26)
    expect(shown('hour')[0]).toBe('2026-06-16T23:00')
    expect(shown('week')).toEqual(['2026-06-15T00:00', '2026-06-22T00:00'])
    expect(shown('month')).toEqual(['2026-06-01T00:00', '2026-07-01T00:00'])
    expect(shown('year')).toEqual(['2026-01-01T00:00', '2027-01-01T00:00'])
  })

  it('[BIL-2] without times it is the last 30 days; with one of them, 30 days before the end or up to now', () => {
    const days = bordersOf(resolveBuckets({ bucketSize: 'day' }, NOW_MS))
    expect([days[0], days.at(-1), days.length]).toEqual(['2026-05-18T00:00', '2026-06-18T00:00', 32])
    const until = bordersOf(resolveBuckets({ bucketSize: 'day', endTime: '2026-03-01T00:00:00Z' }, NOW_MS))
    expect([until[0], until.at(-1)]).toEqual(['2026-01-30T00:00', '2026-03-01T00:00'])
    const since = bordersOf(resolveBuckets({ bucketSize: 'month', startTime: '2026-04-30T23:59:59Z' }, NOW_MS))
    expect(since).toEqual(['2026-04-01T00:00', '2026-05-01T00:00', '2026-06-01T00:00', '2026-07-01T00:00'])
  })

  it('[BIL-2] lastN ends with the bucket in progress', () => {
    expect(bordersOf(resolveBuckets({ bucketSize: 'hour', lastN: 2 }, NOW_MS))).toEqual([
      '2026-06-17T14:00',
      '2026-06-17T15:00',
      '2026-06-17T16:00',
    ])
    expect(bordersOf(resolveBuckets({ bucketSize: 'month', lastN: 3 }, NOW_MS))[0]).toBe('2026-04-01T00:00')
    expect(bordersOf(resolveBuckets({ bucketSize: 'week', lastN: 1 }, NOW_MS))).toEqual(['2026-06-15T00:00', '2026-06-22T00:00'])
    expect(bordersOf(resolveBuckets({ bucketSize: 'year', lastN: 2 }, NOW_MS))[0]).toBe('2025-01-01T00:00')
  })

  it.for([
    ['lastN excludes startTime and endTime', { lastN: 1, startTime: '2026-06-01T00:00:00Z' }],
    ['lastN excludes startTime and endTime', { lastN: 1, endTime: '2026-06-01T00:00:00Z' }],
    ['startTime must be before endTime', { startTime: '2026-06-01T00:00:00Z', endTime: '2026-06-01T00:00:00Z' }],
    ['startTime must be before endTime, which is now', { startTime: '2027-06-01T00:00:00Z' }],
    [`more than ${MAX_BUCKETS} buckets of one hour`, { startTime: '2020-01-01T00:00:00Z', bucketSize: 'hour' as const }],
    [`more than ${MAX_BUCKETS} buckets of one day`, { lastN: MAX_BUCKETS + 1 }],
    ['reaches back to before 1970', { lastN: 100, bucketSize: 'year' as const }],
    ['within the years 1970 to 9998', { startTime: '1969-01-01T00:00:00Z' }],
    ['within the years 1970 to 9998', { startTime: '2026-01-01T00:00:00Z', endTime: '9999-12-31T23:59:59Z', bucketSize: 'year' as const }],
  ] as const)('[BIL-2][BIL-14] refuses: %s', ([detail, asked]) => {
    const result = resolveBuckets({ bucketSize: 'day', ...asked }, NOW_MS)
    expect(result).toMatchObject({ ok: false, problem: { key: 'badRequest', detail: expect.stringContaining(detail) } })
  })

  it('[BIL-2] buckets are contiguous, cover the requested window, and no whole bucket more', () => {
    const moment = fc.integer({ min: Date.UTC(1971, 0), max: Date.UTC(2100, 0) })
    fc.assert(
      fc.property(fc.constantFrom(...BUCKET_SIZES), moment, fc.integer({ min: 1, max: 300 * 86_400_000 }), (bucketSize, startMs, ms) => {
        const asked = { bucketSize, startTime: new Date(startMs).toISOString(), endTime: new Date(startMs + ms).toISOString() }
        const result = resolveBuckets(asked, NOW_MS)
        if (!result.ok) throw new Error('refused')
        const { buckets } = result
        for (const [i, bucket] of buckets.entries()) {
          expect(bucketStart(bucket.startMs, bucketSize)).toBe(bucket.startMs)
          expect(bucketStart(bucket.endMs - 1, bucketSize)).toBe(bucket.startMs)
          if (i > 0) expect(bucket.startMs).toBe((buckets[i - 1] as Bucket).endMs)
        }
        const [first, last] = [buckets[0] as Bucket, buckets.at(-1) as Bucket]
        expect(first.startMs <= startMs && startMs < first.endMs).toBe(true)
        expect(last.startMs < startMs + ms && startMs + ms <= last.endMs).toBe(true)
      }),
    )
  })
})
