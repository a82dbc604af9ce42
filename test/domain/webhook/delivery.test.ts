import { describe, expect, test } from 'vitest'
import { finishJob, submitJob } from '../../../src/domain/job/job.ts'
import { leaseJob } from '../../../src/domain/job/lease.ts'
import { notificationTexts } from '../../../src/domain/job/record.ts'
import {
  ATTEMPT_TIMEOUT_MS,
  type AttemptOutcome,
  type DeliveryState,
  endAttempt,
  interruptAttempt,
  newDelivery,
  redeliver,
  refuseDelivery,
  rotateSecrets,
  SECRET_OVERLAP_MS,
  signingSecrets,
  startAttempt,
} from '../../../src/domain/webhook/delivery.ts'
import { queuedJob } from '../../support/queue/jobs.ts'

const T = 1_000_000
const attempt = (delivery: DeliveryState, startMs: number, outcome: AttemptOutcome, tookMs = 40) =>
  endAttempt(startAttempt(delivery, startMs), outcome, startMs + tookMs)

describe('attempts', () => {
  test('[HOOK-4] the first attempt is due at once', () => {
    expect(newDelivery(T)).toEqual({ status: 'PENDING', attempts: [], failures: 0, interruptions: 0, nextAtMs: T, startedAtMs: null })
  })

  test('[HOOK-4] three failures, each retried 10 s after its end, are the end', () => {
    const first = attempt(newDelivery(T), T, { status: 500 })
    expect(first).toMatchObject({ status: 'PENDING', failures: 1, nextAtMs: T + 40 + 10_000, startedAtMs: null })
    const second = attempt(first, T + 10_040, { error: 'the connection failed' }, 5_000)
    expect(second).toMatchObject({ status: 'PENDING', failures: 2, nextAtMs: T + 10_040 + 5_000 + 10_000 })
    const third = attempt(second, T + 25_040, { status: 404 })
    expect(third).toEqual({
      status: 'FAILED',
      failures: 3,
      interruptions: 0,
      nextAtMs: null,
      startedAtMs: null,
      attempts: [
        { status: 500, atMs: T, durationMs: 40 },
        { error: 'the connection failed', atMs: T + 10_040, durationMs: 5_000 },
        { status: 404, atMs: T + 25_040, durationMs: 40 },
      ],
    })
  })

  test.each([
    [199, 'PENDING'],
    [200, 'DELIVERED'],
    [201, 'DELIVERED'],
    [204, 'DELIVERED'],
    [299, 'DELIVERED'],
    [300, 'PENDING'],
    [301, 'PENDING'],
    [307, 'PENDING'],
    [400, 'PENDING'],
    [410, 'PENDING'],
    [429, 'PENDING'],
    [500, 'PENDING'],
  ])('[HOOK-5] status %i makes it %s', (status, result) => {
    const ended = attempt(newDelivery(T), T, { status })
    expect([ended.status, ended.nextAtMs]).toEqual([result, result === 'DELIVERED' ? null : T + 10_040])
  })

  test('[HOOK-4] a later attempt may succeed', () => {
    const failed = attempt(newDelivery(T), T, { status: 503 })
    expect(attempt(failed, T + 10_040, { status: 200 })).toMatchObject({ status: 'DELIVERED', failures: 1, nextAtMs: null })
  })

  test('[HOOK-4] the time-out is 10 s', () => {
    expect(ATTEMPT_TIMEOUT_MS).toBe(10_000)
  })

  test('[HOOK-11] an attempt that a restart cut off is repeated at once and not counted, but not for ever', () => {
    let delivery = newDelivery(T)
    for (let cut = 1; cut <= 3; cut += 1) {
      delivery = interruptAttempt(startAttempt(delivery, T + cut), T + 100 * cut)
      expect(delivery).toMatchObject({ status: 'PENDING', failures: 0, interruptions: cut, nextAtMs: T + 100 * cut, startedAtMs: null })
    }
    expect(delivery.attempts).toHaveLength(3)
    expect(delivery.attempts[0]).toEqual({ error: expect.stringContaining('interrupted'), atMs: T + 1, durationMs: 99 })
    delivery = interruptAttempt(startAttempt(delivery, T + 400), T + 500)
    expect(delivery).toMatchObject({ failures: 1, nextAtMs: T + 10_500 })
    for (let cut = 0; cut < 2; cut += 1) delivery = interruptAttempt(startAttempt(delivery, T + 20_000), T + 20_000)
    expect(delivery).toMatchObject({ status: 'FAILED', failures: 3, nextAtMs: null })
  })

  test('[HOOK-13] asking again gives three fresh attempts and keeps the log', () => {
    let delivery = newDelivery(T)
    for (let n = 0; n < 3; n += 1) delivery = attempt(delivery, T, { status: 500 })
    delivery = redeliver(delivery, T + 60_000)
    expect(delivery).toMatchObject({ status: 'PENDING', failures: 0, interruptions: 0, nextAtMs: T + 60_000 })
    expect(delivery.attempts).toHaveLength(3)
    for (let n = 0; n < 2; n += 1) delivery = attempt(delivery, T + 60_000, { status: 500 })
    expect(delivery.status).toBe('PENDING')
    expect(attempt(delivery, T + 90_000, { status: 500 })).toMatchObject({ status: 'FAILED', failures: 3 })
  })

  test('[HOOK-13] the log of one delivery is bounded: the latest 30 attempts', () => {
    let delivery = newDelivery(T)
    for (let n = 0; n < 40; n += 1) delivery = attempt(redeliver(delivery, T + n), T + n, { status: 500 })
    expect(delivery.attempts).toHaveLength(30)
    expect(delivery.attempts.at(-1)?.atMs).toBe(T + 39)
  })

  test('[HOOK-14] a delivery without room ends unattempted, with the reason', () => {
    expect(refuseDelivery(newDelivery(T), 'no room', T)).toMatchObject({
      status: 'FAILED',
      nextAtMs: null,
      attempts: [{ error: 'no room', atMs: T, durationMs: 0 }],
    })
  })
})

describe('signing secrets', () => {
  test('[HOOK-8, HOOK-12] both sign until the overlap of 24 h is over, the present one first', () => {
    expect(SECRET_OVERLAP_MS).toBe(86_400_000)
    const rotated = rotateSecrets({ current: 'a', previous: null }, 'b', T)
    expect(signingSecrets({ current: 'a', previous: null }, T)).toEqual(['a'])
    expect(signingSecrets(rotated, T)).toEqual(['b', 'a'])
    expect(signingSecrets(rotated, T + SECRET_OVERLAP_MS - 1)).toEqual(['b', 'a'])
    expect(signingSecrets(rotated, T + SECRET_OVERLAP_MS)).toEqual(['b'])
    expect(signingSecrets(rotated, T + SECRET_OVERLAP_MS + 1)).toEqual(['b'])
  })

  test('[HOOK-12] a second rotation drops the oldest', () => {
    const twice = rotateSecrets(rotateSecrets({ current: 'a', previous: null }, 'b', T), 'c', T + 1)
    expect(signingSecrets(twice, T + 2)).toEqual(['c', 'b'])
  })
})

describe('the body', () => {
  const URL_TEXT = 'https://example.com/"quoted"'

  test('[HOOK-2] has its keys in alphabetical order, input and output as they came', () => {
    const running = leaseJob(queuedJob({ retries: 1, webhook: URL_TEXT }), { workerId: 'w1', boot: 'b1' }, 1_250, { pingIntervalMs: 1 })
    const job = finishJob(running, 'COMPLETED', 1_500)
    expect(notificationTexts(job, URL_TEXT, '{"n": 1.0}', '12345678901234567890').join('')).toBe(
      '{"delayTime":250,"executionTime":250,"id":"job-1","input":{"n": 1.0},"output":12345678901234567890,"retries":1,' +
        '"status":"COMPLETED","webhook":"https://example.com/\\"quoted\\"","workerId":"w1"}',
    )
  })

  test('[HOOK-2] of a job that failed carries error and cause, and no output', () => {
    const job = finishJob(queuedJob(), 'FAILED', 3_000, 'boom', 'why')
    expect(notificationTexts(job, URL_TEXT, '{}').join('')).toBe(
      '{"delayTime":2000,"error":"boom","errorDetail":"why","executionTime":0,"id":"job-1","input":{},"status":"FAILED",' +
        '"webhook":"https://example.com/\\"quoted\\"","workerId":""}',
    )
  })

  test('[HOOK-1] a fresh job keeps its webhook', () => {
    expect(submitJob({ ...queuedJob(), webhook: URL_TEXT }).webhook).toBe(URL_TEXT)
  })
})
