import fc from 'fast-check'
import { amountMicros, nanosOfUsd, partMicros, usdOfMicros } from '../../src/domain/money.ts'
import { describe, expect, it } from '../support/unit.ts'

const MS_PER_HOUR = 3_600_000
const MOST_NANOS = 1_000_000_000_000
const TEN_YEARS_MS = 10 * 365 * 24 * MS_PER_HOUR
const rate = fc.integer({ min: 0, max: MOST_NANOS })
const length = fc.integer({ min: 0, max: TEN_YEARS_MS })

/** The amount by long division of decimal digits, which shares nothing with the way it is computed. */
function byHand(nanosPerHour: number, ms: number): number {
  const product = (BigInt(nanosPerHour) * BigInt(ms)).toString()
  const divisor = BigInt(MS_PER_HOUR) * 1_000n
  let rest = 0n
  let quotient = ''
  for (const digit of product) {
    rest = rest * 10n + BigInt(digit)
    let times = 0
    for (; rest >= divisor; rest -= divisor) times += 1
    quotient += times
  }
  return Number(quotient)
}

describe('money', () => {
  it('[BIL-6] an amount is rate times time in whole millionths of a USD, rounded down', () => {
    expect(amountMicros(nanosOfUsd(0.44), MS_PER_HOUR)).toBe(440_000)
    expect(amountMicros(nanosOfUsd(0.44), 1)).toBe(0)
    expect(amountMicros(nanosOfUsd(0.44), 9)).toBe(1)
    expect(amountMicros(nanosOfUsd(0.44), -5)).toBe(0)
    expect(usdOfMicros(amountMicros(nanosOfUsd(0.69), 90 * 60_000))).toBe(1.035)
    fc.assert(fc.property(rate, length, (nanos, ms) => amountMicros(nanos, ms) === byHand(nanos, ms)))
  })

  it('[BIL-6] the parts of an interval, cut anywhere, sum to the whole', () => {
    const cuts = fc.array(length, { maxLength: 20 })
    fc.assert(
      fc.property(rate, length, length, cuts, (nanos, startedAtMs, ms, offsets) => {
        const endedAtMs = startedAtMs + ms
        const inside = offsets.filter((offset) => offset < ms).map((offset) => startedAtMs + offset)
        const borders = [startedAtMs, ...inside.toSorted((a, b) => a - b), endedAtMs]
        const parts = borders.slice(1).map((toMs, i) => partMicros(nanos, startedAtMs, { fromMs: borders[i] ?? 0, toMs }))
        expect(parts.every((part) => part >= 0)).toBe(true)
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(amountMicros(nanos, ms))
      }),
    )
  })
})
