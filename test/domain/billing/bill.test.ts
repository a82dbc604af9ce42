import fc from 'fast-check'
import { BUCKET_SIZES } from '../../../src/contract/billing/query.ts'
import { type Charge, type ChargedInterval, cutInterval, sumCharges, totalMicros } from '../../../src/domain/billing/bill.ts'
import { resolveBuckets } from '../../../src/domain/billing/buckets.ts'
import { describe, expect, it } from '../../support/unit.ts'

const START_MS = Date.UTC(2026, 4, 28)
const DAYS_MS = 12 * 86_400_000
const NOW_MS = START_MS + DAYS_MS

const nanos = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 50_000_000_000 }))
const interval = fc
  .record({
    kind: fc.constantFrom('POD' as const, 'SERVERLESS' as const, 'NETWORK_VOLUME' as const, 'CLUSTER' as const),
    resourceId: fc.constantFrom('a', 'b'),
    workloadId: fc.constant('w'),
    startedAtMs: fc.integer({ min: START_MS - DAYS_MS, max: NOW_MS }),
    ms: fc.option(fc.integer({ min: 0, max: DAYS_MS })),
    gpuTypeId: fc.constant(null),
    gpuCount: fc.constant(0),
    vcpus: fc.constant(0),
    diskGb: fc.constant(0),
    volumeType: fc.constantFrom(null, 'STANDARD' as const, 'HIGH_PERFORMANCE' as const),
    gpuNanosPerHour: nanos,
    cpuNanosPerHour: nanos,
    diskNanosPerHour: nanos,
  })
  .map(({ ms, ...rest }): ChargedInterval => ({ ...rest, endedAtMs: ms === null ? null : Math.min(NOW_MS, rest.startedAtMs + ms) }))

/** The amount of an interval up to a moment, in integers (rates in billionths of a USD, times in ms), sharing no code with the source. */
function amountAt(interval: ChargedInterval, rate: number, ms: number): bigint {
  const end = Math.min(ms, interval.endedAtMs ?? NOW_MS)
  const spent = BigInt(Math.max(0, end - interval.startedAtMs)) * BigInt(rate)
  return (spent - (spent % 3_600_000_000n)) / 3_600_000_000n
}

/** A bill, computed bucket by bucket over all intervals. */
function expected(intervals: readonly ChargedInterval[], buckets: readonly { startMs: number; endMs: number }[]): Charge[] {
  const charges: Charge[] = []
  for (const { startMs, endMs } of buckets) {
    for (const resourceId of ['a', 'b']) {
      for (const kind of ['POD', 'SERVERLESS', 'NETWORK_VOLUME', 'CLUSTER'] as const) {
        const own = intervals.filter((one) => one.kind === kind && one.resourceId === resourceId)
        const sum = (of: readonly ChargedInterval[], rate: 'gpuNanosPerHour' | 'cpuNanosPerHour' | 'diskNanosPerHour') =>
          Number(of.reduce((all, one) => all + amountAt(one, one[rate], endMs) - amountAt(one, one[rate], startMs), 0n))
        const fast = own.filter(({ volumeType }) => volumeType === 'HIGH_PERFORMANCE')
        const slow = own.filter(({ volumeType }) => volumeType !== 'HIGH_PERFORMANCE')
        const sums = {
          gpuMicros: sum(own, 'gpuNanosPerHour'),
          cpuMicros: sum(own, 'cpuNanosPerHour'),
          diskMicros: sum(slow, 'diskNanosPerHour'),
          fastMicros: sum(fast, 'diskNanosPerHour'),
        }
        if (Object.values(sums).some((micros) => micros > 0)) charges.push({ kind, resourceId, bucketStartMs: startMs, ...sums })
      }
    }
  }
  return charges
}

const byName = (a: Charge, b: Charge) =>
  a.bucketStartMs - b.bucketStartMs || a.resourceId.localeCompare(b.resourceId) || a.kind.localeCompare(b.kind)

describe('bills', () => {
  it('[BIL-5][BIL-6][BIL-13] equal the cost of each bucket by itself, for any intervals and any window', () => {
    const window = fc.record({
      bucketSize: fc.constantFrom(...BUCKET_SIZES),
      from: fc.integer({ min: START_MS - DAYS_MS, max: NOW_MS - 1 }),
      ms: fc.integer({ min: 1, max: DAYS_MS }),
    })
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 12 }), window, (intervals, { bucketSize, from, ms }) => {
        const asked = { bucketSize, startTime: new Date(from).toISOString(), endTime: new Date(from + ms).toISOString() }
        const result = resolveBuckets(asked, NOW_MS)
        if (!result.ok) throw new Error('refused')
        const charges = sumCharges(intervals.flatMap((one) => cutInterval(one, result.buckets, NOW_MS)))
        expect(charges.toSorted(byName)).toEqual(expected(intervals, result.buckets).toSorted(byName))
      }),
    )
  })

  it('[BIL-5] sum to the same, however intervals are cut', () => {
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 12 }), (intervals) => {
        const window = { startTime: new Date(START_MS - DAYS_MS).toISOString(), endTime: new Date(NOW_MS).toISOString() }
        const totals = BUCKET_SIZES.map((bucketSize) => {
          const result = resolveBuckets({ ...window, bucketSize }, NOW_MS)
          if (!result.ok) throw new Error('refused')
          const charges = sumCharges(intervals.flatMap((one) => cutInterval(one, result.buckets, NOW_MS)))
          return charges.reduce((micros, charge) => micros + totalMicros(charge), 0)
        })
        expect(new Set(totals).size).toBe(1)
      }),
    )
  })
})
