import {
  DEFAULT_QUOTA,
  emptyCounts,
  isAllowed,
  quotaOfPods,
  type RateCounts,
  reserveOf,
  spendAll,
  spenderName,
  spenderOf,
  spendOne,
  verdictOf,
} from '../../src/domain/rate-limit.ts'
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
  it('[RATE-1] are 60, 3000 and 50000 by default, with the rest after this request', () => {
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

  it('[AUT-4a] a quota lowered below the spent amount leaves zero, not less', () => {
    const spent = spend(10).counts
    expect(takeRequest(spent, { minute: 5, hour: 3000, day: 50000 }, NOON)).toMatchObject({
      allowed: false,
      windows: [{ remaining: 0 }, {}, {}],
    })
  })
})

describe('a request that ends something', () => {
  const FULL = { minute: 60, hour: 3000, day: 50_000 }

  it('[CAP-3] has a tenth of a minute beyond used-up windows, which nothing else can spend', () => {
    const counts = emptyCounts()
    const take = (ends: boolean, nowMs = NOON) => isAllowed(spendOne(counts, FULL, nowMs, ends))
    for (let n = 0; n < 60; n += 1) expect(take(n % 2 === 0)).toBe(true)
    expect(take(false)).toBe(false)
    for (let n = 0; n < 6; n += 1) expect(take(true)).toBe(true)
    expect(take(true)).toBe(false)
    expect([counts.minute.count, counts.reserve.count]).toEqual([60, 6])
    expect(take(true, NOON + 59_999)).toBe(false)
    expect(take(false, NOON + 60_000)).toBe(true)
    expect([0, 10, 49, 51, 1000].map((minute) => reserveOf({ minute }))).toEqual([5, 5, 5, 6, 100])
  })

  it('[CAP-3] [RATE-4] waits for the next minute at most, whichever window is used up', () => {
    const counts = emptyCounts()
    const quota = { minute: 10, hour: 1, day: 1 }
    for (let n = 0; n < 6; n += 1) expect(isAllowed(spendOne(counts, quota, NOON, true))).toBe(true)
    const outcome = spendOne(counts, quota, NOON + 20_000, true)
    expect(verdictOf(quota, outcome, true)).toMatchObject({ allowed: false, exceeded: 'minute', retryAfterSeconds: 40 })
    expect(verdictOf(quota, outcome)).toMatchObject({ exceeded: 'day' })
    expect(verdictOf(quota, outcome, true).windows).toMatchObject([{ remaining: 9 }, { remaining: 0 }, { remaining: 0 }])
  })
})

describe('the reserve of each key and session of a user', () => {
  const quota = { minute: 60, hour: 1, day: 1 }

  /** Calls that end something, of one credential in one minute, until one is refused. */
  function reserves() {
    const [counts, used] = [emptyCounts(), new Map<string, number>()]
    spendOne(counts, quota, NOON)
    return (credential: string, nowMs = NOON) => {
      let served = 0
      while (isAllowed(spendOne(counts, quota, nowMs, true, { credential, used }))) served += 1
      return served
    }
  }

  it('[SHR-44] is not spent by another credential', () => {
    const served = reserves()
    expect([served('stolen'), served('stolen'), served('own'), served('session')]).toEqual([6, 0, 6, 6])
    expect([served('stolen', NOON + 60_000), served('own', NOON + 60_000)]).toEqual([6, 6])
  })

  it('[SHR-44] has a bound for all of them together, and an unused credential still has one call within it', () => {
    const served = reserves()
    const all = Array.from({ length: 250 }, (_, at) => served(`stolen ${at}`))
    expect(all.reduce((sum, one) => sum + one, 0)).toBeLessThan(10 * 6 + 256)
    expect(Math.min(...all)).toBe(1)
    expect(served('own')).toBe(1)
    for (let more = 0; more < 100; more += 1) served(`further ${more}`)
    expect(served('last')).toBe(0)
    expect(served('last', NOON + 60_000)).toBe(6)
  })

  it('[SHR-44] survives a restart of the object, with the total that all have spent', () => {
    const counts = emptyCounts()
    counts.day = { startMs: Date.UTC(2026, 5, 1), count: 1 }
    counts.reserve = { startMs: NOON, count: 10 * 6 + 256 }
    expect(isAllowed(spendOne(counts, quota, NOON, true, { credential: 'own', used: new Map() }))).toBe(false)
  })
})

describe('pods', () => {
  it('[CAP-1] have a budget of their own, apart from that of users', () => {
    const caller = { credentialId: 'c', userId: 'u', teamId: 't' }
    expect(spenderOf({ ...caller, via: 'POD' })).toEqual({ podId: 'c', teamId: 't' })
    for (const via of ['KEY', 'SESSION', 'OPERATOR']) expect(spenderOf({ ...caller, via })).toEqual({ userId: 'u' })
    const names = [
      spenderOf({ ...caller, via: 'POD' }),
      spenderOf({ ...caller, via: 'POD', credentialId: 'd' }),
      spenderOf({ ...caller, via: 'KEY' }),
    ]
    expect(names.map(spenderName)).toEqual(['pod c', 'pod d', 'u'])
  })

  it('[CAP-2] [RATE-5] of one account have a common budget, and a request that it refuses does not count', () => {
    const quota = { minute: 3, hour: 100, day: 100 }
    const [mine, together] = [emptyCounts(), emptyCounts()]
    together.minute = { startMs: NOON, count: 29 }
    const take = () =>
      spendAll(
        [
          { counts: mine, quota },
          { counts: together, quota: quotaOfPods(quota) },
        ],
        NOON,
        false,
      )
    expect(verdictOf(quota, take())).toMatchObject({ allowed: true, windows: [{ quota: 3, remaining: 0 }, { remaining: 99 }, {}] })
    expect(verdictOf(quota, take())).toMatchObject({ allowed: false, exceeded: 'minute' })
    expect([mine.minute.count, together.minute.count]).toEqual([1, 30])
  })
})
