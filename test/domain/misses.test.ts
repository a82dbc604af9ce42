import { describe, expect, it } from 'vitest'
import { countMiss, MAX_MISSES, MAX_MISSES_OF_A_FLOOD, MISS_WINDOW_MS, type Misses, secondsUntilLookup } from '../../src/domain/misses.ts'

const START = 1_900_000_000_000
const missed = (times: number, nowMs: number, before?: Misses): Misses | undefined =>
  Array.from({ length: times }).reduce<Misses | undefined>((misses) => countMiss(misses, nowMs), before)

describe('look-ups that find nothing', () => {
  it('[KEY-10] a source has as many as the bound, then waits for the next window', () => {
    expect(secondsUntilLookup(undefined, START)).toBeNull()
    expect(secondsUntilLookup(missed(MAX_MISSES - 1, START), START)).toBeNull()
    const full = missed(MAX_MISSES, START)
    expect(secondsUntilLookup(full, START)).toBe(MISS_WINDOW_MS / 1000)
    expect(secondsUntilLookup(full, START + MISS_WINDOW_MS - 1)).toBe(1)
    expect(secondsUntilLookup(full, START + MISS_WINDOW_MS)).toBeNull()
  })

  it('[KEY-10] a hit is no miss, and an older window does not count', () => {
    const later = START + MISS_WINDOW_MS
    expect(countMiss(missed(MAX_MISSES - 1, START), later)).toEqual({ startMs: later, count: 1, bound: MAX_MISSES })
  })

  it('[KEY-10] a source that had all of one window has a tenth in the next, until it pauses for one', () => {
    const flood = missed(MAX_MISSES, START)
    const second = START + MISS_WINDOW_MS
    const third = second + MISS_WINDOW_MS
    expect(secondsUntilLookup(missed(MAX_MISSES_OF_A_FLOOD - 1, second, flood), second)).toBeNull()
    const goesOn = missed(MAX_MISSES_OF_A_FLOOD, second, flood)
    expect(secondsUntilLookup(goesOn, second)).toBe(MISS_WINDOW_MS / 1000)
    expect(countMiss(goesOn, third).bound).toBe(MAX_MISSES_OF_A_FLOOD)
    expect(countMiss(missed(MAX_MISSES_OF_A_FLOOD - 1, second, flood), third).bound).toBe(MAX_MISSES)
    expect(countMiss(goesOn, third + MISS_WINDOW_MS).bound).toBe(MAX_MISSES)
  })
})
