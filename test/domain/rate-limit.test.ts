import { DEFAULT_QUOTA, emptyCounts, type RateCounts, spendOne, verdictOf } from '../../src/domain/rate-limit.ts'
import { describe, expect, it } from '../support/unit.ts'

const NOON = Date.UTC(2026, 5, 1, 12, 0, 0)

/** Decides one request on a copy of the counts. */
function takeRequest(before: RateCounts, quota: typeof DEFAULT_QUOTA, nowMs: number) {
  const counts = structuredClone(before)
  return { ...verdictOf(quota, spendOne(counts, quota, nowMs)), counts }
}

function spend(times: number, quota = DEFAULT_QUOTA, nowMs = NOON, counts: RateCounts = emptyCounts()) {
  let verdict = takeRequest(counts, quota, nowMs)
  for (let index = 1; index < times; index += 1) verdict = takeRequest(verdict.counts, quota, nowMs)
  return verdict
}

describe('windows', () => {
  it('[RATE-1] 60, 3000 and 50000 by default, and says what is left after this request', () => {
    expect(takeRequest(emptyCounts(), DEFAULT_QUOTA, NOON + 1).windows).toEqual([
      { name: 'minute', quota: 60, windowSeconds: 60, remaining: 59, resetSeconds: 60 },
      { name: 'hour', quota: 3000, windowSeconds: 3600, remaining: 2999, resetSeconds: 3600 },
      { name: 'day', quota: 50000, windowSeconds: 86400, remaining: 49999, resetSeconds: 43200 },
    ])
  })

  it('[RATE-1] the 60th passes with nothing left, the 61st is refused', () => {
    expect(spend(60)).toMatchObject({ allowed: true, windows: [{ remaining: 0 }, { remaining: 2940 }, {}] })
    expect(spend(61)).toMatchObject({ allowed: false, exceeded: 'minute', retryAfterSeconds: 60 })
  })

  it('[RATE-5] windows are aligned to UTC: the last millisecond still counts, the next one starts anew', () => {
    const full = spend(60)
    expect(takeRequest(full.counts, DEFAULT_QUOTA, NOON + 59_999)).toMatchObject({ allowed: false, retryAfterSeconds: 1 })
    expect(takeRequest(full.counts, DEFAULT_QUOTA, NOON + 60_000)).toMatchObject({
      allowed: true,
      windows: [{ remaining: 59 }, { remaining: 2939 }, {}],
    })
  })

  it('[RATE-5] a refused request does not count', () => {
    const full = spend(60)
    const refused = spend(100, DEFAULT_QUOTA, NOON + 1000, full.counts)
    expect(refused.counts).toEqual(full.counts)
  })

  it('[RATE-4] of several exceeded windows the one with the longest wait is named', () => {
    const verdict = spend(3, { minute: 2, hour: 2, day: 100 }, NOON + 10_000)
    expect(verdict).toMatchObject({ allowed: false, exceeded: 'hour', retryAfterSeconds: 3590 })
  })

  it('[AUT-4a] a quota lowered below what was spent leaves nothing, not less', () => {
    const spent = spend(10).counts
    expect(takeRequest(spent, { minute: 5, hour: 3000, day: 50000 }, NOON)).toMatchObject({
      allowed: false,
      windows: [{ remaining: 0 }, {}, {}],
    })
  })
})
