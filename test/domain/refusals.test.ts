import { describe, expect, test } from 'vitest'
import { MISS_WINDOW_MS } from '../../src/domain/misses.ts'
import {
  countRefusal,
  MAX_REFUSAL_WAIT_MS,
  MAX_WAITING,
  PROMPT_REFUSALS,
  REFUSAL_WAIT_MS,
  type Refusals,
  refusalWaitMs,
} from '../../src/domain/refusals.ts'

const NOW = 1_000_000
const refused = (times: number, nowMs: number, before?: Refusals): Refusals =>
  Array.from({ length: times }).reduce<Refusals | undefined>((refusals) => countRefusal(refusals, nowMs), before) ?? {
    startMs: nowMs,
    count: 0,
  }

describe('[RATE-30] a refusal', () => {
  test('is sent at once while its client has had few, and is delayed longer the more it has had', () => {
    const waitAt = (count: number) => refusalWaitMs({ startMs: NOW, count }, 0)
    expect([1, 100, 101, 199, 200, 400, 800, 80_000].map(waitAt)).toEqual([0, 0, 250, 250, 500, 1000, 2000, 2000])
    expect([PROMPT_REFUSALS, REFUSAL_WAIT_MS, MAX_REFUSAL_WAIT_MS]).toEqual([100, 250, 2000])
  })

  test('is sent at once where too many wait already', () => {
    const many = { startMs: NOW, count: 10 * PROMPT_REFUSALS }
    expect(refusalWaitMs(many, MAX_WAITING - 1)).toBe(MAX_REFUSAL_WAIT_MS)
    expect(refusalWaitMs(many, MAX_WAITING)).toBe(0)
  })

  test('of a continued flood is delayed in the next window from the first one on', () => {
    const flood = refused(900, NOW)
    const next = countRefusal(flood, NOW + MISS_WINDOW_MS)
    expect(next).toEqual({ startMs: NOW + MISS_WINDOW_MS, count: 451 })
    expect(refusalWaitMs(next, 0)).toBe(1000)
  })

  test('is prompt again after a window with none or few, and soon once few come', () => {
    expect(countRefusal(refused(900, NOW), NOW + 2 * MISS_WINDOW_MS).count).toBe(1)
    expect(countRefusal(refused(PROMPT_REFUSALS, NOW), NOW + MISS_WINDOW_MS).count).toBe(1)
    const slow = [1, 2, 3, 4].reduce((before, window) => refused(5, NOW + window * MISS_WINDOW_MS, before), refused(900, NOW))
    expect(refusalWaitMs(slow, 0)).toBe(0)
  })
})
