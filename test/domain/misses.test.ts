import { describe, expect, it } from 'vitest'
import { countMiss, MAX_MISSES, MISS_WINDOW_MS, type Misses, secondsUntilLookup } from '../../src/domain/misses.ts'

const START = 1_900_000_000_000
const missed = (times: number, nowMs: number): Misses | undefined =>
  Array.from({ length: times }).reduce<Misses | undefined>((misses) => countMiss(misses, nowMs), undefined)

describe('look-ups that find nothing', () => {
  it('[PP-200] a source has as many as the bound, then waits for the next window', () => {
    expect(secondsUntilLookup(undefined, START)).toBeNull()
    expect(secondsUntilLookup(missed(MAX_MISSES - 1, START), START)).toBeNull()
    const full = missed(MAX_MISSES, START)
    expect(secondsUntilLookup(full, START)).toBe(MISS_WINDOW_MS / 1000)
    expect(secondsUntilLookup(full, START + MISS_WINDOW_MS - 1)).toBe(1)
    expect(secondsUntilLookup(full, START + MISS_WINDOW_MS)).toBeNull()
  })

  it('[PP-200] what is found is no miss, and an older window counts nothing', () => {
    expect(countMiss(missed(MAX_MISSES, START), START + MISS_WINDOW_MS)).toEqual({ startMs: START + MISS_WINDOW_MS, count: 1 })
  })
})
