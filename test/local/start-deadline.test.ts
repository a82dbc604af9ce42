import { afterEach, beforeEach, vi } from 'vitest'
import { startDeadline } from '../../src/local/start-deadline.ts'
import { describe, expect, it } from '../support/unit.ts'

const LIMITS = { limitMs: 20, servingLimitMs: 150 }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('[PLANE-10] the deadline of a step', () => {
  const watched = () => {
    const late: string[] = []
    return { late, deadline: startDeadline((reason) => late.push(reason), LIMITS) }
  }

  it('has passed when nothing answers', async () => {
    const { late, deadline } = watched()
    deadline.step('reaching the plane', async () => false)
    await vi.advanceTimersByTimeAsync(80)
    expect(late).toEqual(['reaching the plane took more than 0 s'])
  })

  it('is extended while the plane answers, and not for ever', async () => {
    const { late, deadline } = watched()
    deadline.step('reaching the plane', async () => true)
    await vi.advanceTimersByTimeAsync(80)
    expect(late).toEqual([])
    await vi.advanceTimersByTimeAsync(200)
    expect(late).toEqual(['reaching the plane took more than 0 s'])
  })

  it('has no effect once the step has ended, also during a check', async () => {
    const { late, deadline } = watched()
    const answer = Promise.withResolvers<boolean>()
    deadline.step('reaching the plane', () => answer.promise)
    await vi.advanceTimersByTimeAsync(40)
    deadline.done()
    answer.resolve(false)
    await vi.advanceTimersByTimeAsync(40)
    expect(late).toEqual([])
  })
})
