import { describe, expect, test } from 'vitest'
import { JOB_ROUTES } from '../../../src/contract/jobs/job-routes.ts'
import { DEFAULT_JOB_LIMITS, describeRefusal, judgeCall, readJobLimits, windowOf } from '../../../src/domain/job/limits.ts'

const LIMIT = { rate: 3, concurrent: 2 }
/** First instant of a window. */
const START = 1_700_000_000_000
const spent = (count: number, active = 0) => ({ window: windowOf(START), count, active })

describe('judgeCall', () => {
  test('[LIM-1] the last call of the rate is let through, the next is not', () => {
    expect(judgeCall(spent(2), LIMIT, 0, START)).toBeNull()
    expect(judgeCall(spent(3), LIMIT, 0, START)).toEqual({ exceeded: 'rate', limit: 3, retryAfterSeconds: 10 })
  })

  test('[LIM-1] windows are aligned to UTC: one millisecond before, at and after the end', () => {
    expect(judgeCall(spent(3), LIMIT, 0, START + 9_999)).toEqual({ exceeded: 'rate', limit: 3, retryAfterSeconds: 1 })
    expect(judgeCall(spent(3), LIMIT, 0, START + 10_000)).toBeNull()
    expect(judgeCall(spent(3), LIMIT, 0, START + 10_001)).toBeNull()
  })

  test('[API-7] a caller that waits the named seconds is in the next window', () => {
    for (const offset of [0, 1, 999, 1_000, 5_500, 9_999]) {
      const refusal = judgeCall(spent(3), LIMIT, 0, START + offset)
      expect(windowOf(START + offset + (refusal?.retryAfterSeconds ?? 0) * 1000)).toBe(windowOf(START) + 1)
    }
  })

  test('[LIM-1] calls under way are limited beside the rate, and carry over into the next window', () => {
    expect(judgeCall(spent(1, 1), LIMIT, 0, START)).toBeNull()
    expect(judgeCall(spent(1, 2), LIMIT, 0, START)).toEqual({ exceeded: 'concurrency', limit: 2, retryAfterSeconds: 1 })
    expect(judgeCall(spent(1, 2), LIMIT, 0, START + 10_000)).toMatchObject({ exceeded: 'concurrency' })
    expect(judgeCall(spent(1, 2_000), { rate: 3, concurrent: null }, 0, START)).toBeNull()
  })

  test('[LIM-1] running workers lift both limits, and never lower them', () => {
    expect(judgeCall(spent(4), LIMIT, 5, START)).toBeNull()
    expect(judgeCall(spent(5), LIMIT, 5, START)).toMatchObject({ exceeded: 'rate', limit: 5 })
    expect(judgeCall(spent(0, 4), LIMIT, 5, START)).toBeNull()
    expect(judgeCall(spent(2), LIMIT, 1, START)).toBeNull()
  })
})

test('[LIM-1] a refusal names operation, limit and window', () => {
  expect(describeRefusal('run', { exceeded: 'rate', limit: 1000, retryAfterSeconds: 4 })).toBe(
    'rate limit exceeded for /run: 1000 requests per 10 seconds on this endpoint',
  )
  expect(describeRefusal('runsync', { exceeded: 'concurrency', limit: 400, retryAfterSeconds: 1 })).toBe(
    'too many /runsync requests at the same time on this endpoint: at most 400',
  )
})

describe('settings', () => {
  test('the table of the contract is the default', () => {
    expect(readJobLimits('', '')).toEqual(DEFAULT_JOB_LIMITS)
    expect(DEFAULT_JOB_LIMITS.limits['purge-queue']).toEqual({ rate: 2, concurrent: null })
  })

  test('[LIM-11] an operator overrides single parts; unusable values leave the default', () => {
    const read = readJobLimits('{"run":{"rate":5,"concurrent":null},"status":{"rate":-1,"concurrent":"x"},"cancel":7}', '25')
    expect(read.limits.run).toEqual({ rate: 5, concurrent: null })
    expect(read.limits.status).toEqual(DEFAULT_JOB_LIMITS.limits.status)
    expect(read.limits.cancel).toEqual(DEFAULT_JOB_LIMITS.limits.cancel)
    expect(read.requestsPerWorker).toBe(25)
    expect(readJobLimits('[1]', '-3')).toEqual(DEFAULT_JOB_LIMITS)
    expect(readJobLimits('{', 'many').requestsPerWorker).toBe(100)
    expect(readJobLimits('', '0').requestsPerWorker).toBe(0)
  })
})

test('[RATE-31] every call of a client has a limit', () => {
  const unlimited = Object.entries(JOB_ROUTES).filter(([, { caller, bucket }]) => caller === 'client' && bucket === null)
  expect(unlimited).toEqual([])
})
