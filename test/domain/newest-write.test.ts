import { isLongWrite, isSettled, LONG_WRITE_MS, wroteAt } from '../../src/domain/newest-write.ts'
import { describe, expect, it } from '../support/unit.ts'

const START = 1_900_000_000_000

describe('the newest write of a user', () => {
  it('[RATE-34] has no bookmark, and is settled only after every request that did not announce itself again has ended', () => {
    const newest = wroteAt(START)
    expect(newest.bookmark).toBeNull()
    expect(isSettled(newest, START + LONG_WRITE_MS)).toBe(false)
    expect(isSettled(newest, START + 14_999)).toBe(false)
    expect(isSettled(newest, START + 15_000)).toBe(true)
    expect(isSettled(newest, START - 1)).toBe(false)
  })

  it('[RATE-34] is announced again by a request that takes long, or whose clock was set back', () => {
    expect(isLongWrite(START, START + LONG_WRITE_MS)).toBe(false)
    expect(isLongWrite(START, START + LONG_WRITE_MS + 1)).toBe(true)
    expect(isLongWrite(START, START - 1)).toBe(true)
  })
})
