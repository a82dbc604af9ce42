import fc from 'fast-check'
import {
  boundsOf,
  estimateMicros,
  monthOf,
  NO_SPEND_SETTINGS,
  nearestShares,
  refuseSpend,
  type SpendSettings,
  shareOf,
  spendLimitsOf,
  usd,
} from '../../../src/domain/billing/spend.ts'
import { describe, expect, it } from '../../support/unit.ts'

const USD = 1_000_000
const NANOS = 1_000_000_000
const DEFAULT = 80 * USD
const settings = (change: Partial<SpendSettings>): SpendSettings => ({ ...NO_SPEND_SETTINGS, ...change })
const use = (usdPerHour: number, monthUsd: number | null = null) => ({
  nanosPerHour: Math.round(usdPerHour * NANOS),
  monthMicros: monthUsd === null ? null : monthUsd * USD,
  together: null,
})

describe('the limits of an account', () => {
  it.each<[Partial<SpendSettings>, [number, number], [number | null, number | null]]>([
    [{}, [80, 80], [null, null]],
    [{ microsPerHour: 40 * USD }, [40, 80], [null, null]],
    [{ ceilingMicrosPerHour: 500 * USD }, [500, 500], [null, null]],
    [{ microsPerHour: 90 * USD, ceilingMicrosPerHour: 500 * USD }, [90, 500], [null, null]],
    [{ microsPerHour: 90 * USD, ceilingMicrosPerHour: 0 }, [0, 0], [null, null]],
    [{ microsPerMonth: 100 * USD }, [80, 80], [100, null]],
    [{ ceilingMicrosPerMonth: 50 * USD }, [80, 80], [50, 50]],
    [{ microsPerMonth: 100 * USD, ceilingMicrosPerMonth: 50 * USD }, [80, 80], [50, 50]],
  ])('[BIL-20] [BIL-21] %j are its own within the bounds of the operator', (change, hour, month) => {
    const limits = spendLimitsOf(settings(change), DEFAULT)
    const inUsd = (micros: number | null) => (micros === null ? null : micros / USD)
    expect([limits.hour.limitMicros, limits.hour.ceilingMicros].map(inUsd)).toEqual(hour)
    expect([limits.month.limitMicros, limits.month.ceilingMicros].map(inUsd)).toEqual(month)
  })

  it('[BIL-21] are never above the limit of the operator', () => {
    const amount = fc.option(fc.nat(1000), { nil: null })
    fc.assert(
      fc.property(amount, amount, amount, amount, (a, b, c, d) => {
        const given = { microsPerHour: a, microsPerMonth: b, ceilingMicrosPerHour: c, ceilingMicrosPerMonth: d }
        const { hour, month } = spendLimitsOf(settings(given), 80)
        expect(hour.limitMicros).toBeLessThanOrEqual(c ?? 80)
        expect(month.limitMicros ?? 0).toBeLessThanOrEqual(d ?? Number.POSITIVE_INFINITY)
        expect(month.limitMicros === null).toBe(b === null && d === null)
      }),
    )
  })
})

describe('a request that costs money', () => {
  const limits = spendLimitsOf(settings({ microsPerMonth: 500 * USD }), DEFAULT)

  it.each([
    [78.4, 1.6],
    [0, 80],
    [90, 0],
    [90, -1],
  ])('[BIL-22] fits with %d in use when it needs %d', (inUse, need) => {
    expect(refuseSpend(limits, use(inUse, 0), need * NANOS)).toBeNull()
  })

  it('[BIL-22] is refused with the figures and the next step', () => {
    expect(refuseSpend(limits, use(78.4, 0), 2.69 * NANOS)).toEqual({
      key: 'insufficientBalance',
      detail: 'spend limit: 78.40 of 80.00 USD per hour in use, the request needs 2.69; stop a workload, or ask the operator for more',
      code: 'SPEND_LIMIT',
    })
    const own = spendLimitsOf(settings({ microsPerHour: 2 * USD }), DEFAULT)
    expect(refuseSpend(own, use(2), 0.000_4 * NANOS)?.detail).toBe(
      'spend limit: 2.00 of 2.00 USD per hour in use, the request needs 0.000400; stop a workload, or raise it with PATCH /v2/billing/limits',
    )
  })

  it('[S2] [SHR-1] is refused by the total of all accounts of the person, whose limit the account cannot raise', () => {
    const ceiling = spendLimitsOf(
      settings({ microsPerHour: 1 * USD, ceilingMicrosPerHour: 2 * USD, ceilingMicrosPerMonth: 9 * USD }),
      DEFAULT,
    )
    const both = (own: number, together: number, month = 0) => ({ ...use(own, month), together: use(together, month) })
    expect(refuseSpend(ceiling, both(0, 1), NANOS)).toBeNull()
    expect(refuseSpend(ceiling, both(0, 1.01), NANOS)?.detail).toBe(
      'spend limit: 1.01 of 2.00 USD per hour in use across all accounts of one user: the personal account of the creator of this organization, and the organizations without a plan, the request needs 1.00; stop a workload in one of them, or ask the operator for more',
    )
    expect(refuseSpend(ceiling, { ...use(0, 0), together: use(0, 9) }, NANOS)?.detail).toMatch(
      /^spend limit: 9.00 of 9.00 USD of this month .* one user/,
    )
    // The limit of the account counts only its own spend.
    expect(refuseSpend(ceiling, both(0.5, 0.5), NANOS)?.detail).toMatch(
      /^spend limit: 0.50 of 1.00 USD per hour in use, .* raise it with PATCH/,
    )
    expect(nearestShares(boundsOf(ceiling, both(0.1, 1.8, 3)))).toEqual({ hour: 0.9, month: 0.3333 })
    expect(nearestShares(boundsOf(ceiling, both(0.95, 1, 3)))).toEqual({ hour: 0.95, month: 0.3333 })
  })

  it('[BIL-23] is refused when the month is spent, and not before', () => {
    expect(refuseSpend(limits, use(0, 499.99), NANOS)).toBeNull()
    expect(refuseSpend(limits, use(0, 500), 0)).toBeNull()
    expect(refuseSpend(limits, use(0, 500), NANOS)?.detail).toBe(
      'spend limit: 500.00 of 500.00 USD of this month are spent, the request needs 1.00 per hour; stop a workload, or raise it with PATCH /v2/billing/limits',
    )
  })
})

describe('a month', () => {
  it.each([
    ['2026-11-22T14:00:00Z', '2026-11', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2026-12', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['2028-02-01T00:00:00Z', '2028-02', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ])('[BIL-25] of %s is that of UTC', (now, name, start, end) => {
    const month = monthOf(Date.parse(now))
    expect([month.name, new Date(month.startMs).toISOString(), new Date(month.endMs).toISOString()]).toEqual([name, start, end])
  })

  it('[BIL-25] is estimated from the amount spent and the current rate', () => {
    const nowMs = Date.parse('2026-11-30T14:00:00Z')
    expect(estimateMicros(5 * USD, 2 * NANOS, monthOf(nowMs), nowMs)).toBe(25 * USD)
  })

  it.each([
    [40, 80, 0.5],
    [1, 3, 0.3333],
    [1, null, null],
    [0, 0, 1],
  ])('[BIL-25] the share of %j in %j is %j', (used, limit, share) => {
    expect(shareOf(used, limit)).toBe(share)
  })

  it.each([
    [0, '0.00'],
    [0.44, '0.44'],
    [0.0004, '0.000400'],
    [1234.5, '1234.50'],
  ])('%d USD read %s', (amount, text) => {
    expect(usd(amount)).toBe(text)
  })
})
