import { describe, expect, test } from 'vitest'
import { MAX_WAITING, PROMPT_REFUSALS, REFUSAL_WAIT_MS, refusalWaitMs } from '../../src/domain/refusals.ts'

const NOW = 1_000_000

describe('[SEC-11] a refusal', () => {
  test('goes at once while its receiver has had few, and waits once he has had many', () => {
    const waitAt = (count: number) => refusalWaitMs({ startMs: NOW, count }, NOW, 0)
    expect([1, PROMPT_REFUSALS, PROMPT_REFUSALS + 1, 10 * PROMPT_REFUSALS].map(waitAt)).toEqual([0, 0, REFUSAL_WAIT_MS, REFUSAL_WAIT_MS])
  })

  test('goes at once where too many wait already, and in the next window', () => {
    const many = { startMs: NOW, count: 10 * PROMPT_REFUSALS }
    expect(refusalWaitMs(many, NOW, MAX_WAITING - 1)).toBe(REFUSAL_WAIT_MS)
    expect(refusalWaitMs(many, NOW, MAX_WAITING)).toBe(0)
    expect(refusalWaitMs(many, NOW + 10_000, 0)).toBe(0)
  })
})
