import { describe, expect, test } from 'vitest'
import { dueAtMs, finishJob, judgePost, retryJob } from '../../../src/domain/job/job.ts'
import {
  addChunk,
  applyTime,
  doubtTake,
  endLease,
  leaseJob,
  mayHold,
  missPing,
  renewLease,
  showIdle,
} from '../../../src/domain/job/lease.ts'
import { jobRecordJson } from '../../../src/domain/job/record.ts'
import { silentAtMs } from '../../../src/domain/worker/worker.ts'
import { queued, queuedJob } from '../../support/queue/jobs.ts'

const TIMES = { pingIntervalMs: 10_000 }
const A = { workerId: 'w1', boot: 'b1' }
const B = { workerId: 'w2', boot: 'b2' }

describe('leases', () => {
  test('[LSE-2, TMO-6] an unconfirmed lease ends exactly 3 ping intervals after its start', () => {
    const job = leaseJob(queuedJob(), A, 5_000, TIMES)
    expect(applyTime(job, 34_999).kind).toBe('none')
    const due = applyTime(job, 35_000)
    expect(due).toMatchObject({ kind: 'lease-ended', takeLost: false, job: { state: 'IN_QUEUE', retries: 0, unconfirmed: 1, attempt: 1 } })
  })

  test('[LSE-30] a take whose answer was lost costs no retry; the tenth one fails the job with the true reason', () => {
    let job = queuedJob()
    for (let times = 1; times <= 9; times++) {
      const due = applyTime(showIdle(leaseJob(job, { workerId: `w${times}`, boot: 'b' }, 0, TIMES), 1_000, true), 3_000)
      expect(due).toMatchObject({ kind: 'lease-ended', takeLost: true, job: { state: 'IN_QUEUE', retries: 0, unconfirmed: times } })
      if (due.kind === 'lease-ended') job = queued(due.job)
    }
    expect(applyTime(showIdle(leaseJob(job, A, 0, TIMES), 1_000, true), 3_000)).toMatchObject({
      job: {
        state: 'FAILED',
        error: 'no worker confirmed the job, which was handed out 10 times',
        errorDetail: 'the response with the job was lost between the plane and its host',
      },
    })
    expect(retryJob(finishJob(job, 'FAILED', 1), 9).unconfirmed).toBe(0)
  })

  test('[WRK-19, LSE-30] a job whose boot asks for work without a ping may have run: that costs a retry', () => {
    const leased = leaseJob(queuedJob(), A, 0, TIMES)
    expect(applyTime(showIdle(leased, 1_000), 3_000)).toMatchObject({ takeLost: false, job: { retries: 1, unconfirmed: 0 } })
    // A later take adds no information.
    expect(applyTime(showIdle(showIdle(leased, 1_000), 1_500, true), 3_000)).toMatchObject({ takeLost: false, job: { retries: 1 } })
    expect(applyTime(showIdle(showIdle(leased, 1_000, true), 1_500), 3_000)).toMatchObject({ takeLost: true, job: { retries: 0 } })
  })

  test('[LSE-30] a busy boot whose take was lost keeps its leases; the jobs that it then shows lost never reached it', () => {
    const doubted = doubtTake(leaseJob(queuedJob(), A, 0, TIMES))
    expect(applyTime(doubted, 29_999).kind).toBe('none')
    expect(applyTime(showIdle(doubted, 1_000), 3_000)).toMatchObject({ takeLost: true, job: { retries: 0, unconfirmed: 1 } })
    expect(applyTime(doubted, 30_000)).toMatchObject({ takeLost: false, job: { retries: 0, unconfirmed: 1 } })
    const confirmed = renewLease(doubted, 1_000, TIMES)
    expect(doubtTake(confirmed)).toEqual(confirmed)
    expect(applyTime(showIdle(confirmed, 2_000), 4_000)).toMatchObject({ takeLost: false, job: { retries: 1 } })
  })

  test('[LSE-3, LSE-30] a job that was confirmed and is shown lost was begun: it costs a retry, and its worker', () => {
    const begun = showIdle(renewLease(leaseJob(queuedJob(), A, 0, TIMES), 1_000, TIMES), 5_000)
    expect(applyTime(begun, 7_000)).toMatchObject({ takeLost: false, reason: 'result lost', job: { retries: 1, unconfirmed: 0 } })
  })

  test('[JOB-5] a job cancelled while it waits again has executed until its lease ended, and no longer', () => {
    const requeued = queued(endLease(leaseJob(queuedJob({ createdAtMs: 0 }), A, 1_000, TIMES), 'lost', 31_000, 'retry'))
    expect(JSON.parse(jobRecordJson(finishJob(requeued, 'CANCELLED', 90_000)))).toMatchObject({ delayTime: 1_000, executionTime: 30_000 })
    // LSE-11: its late result shows that it ran on.
    expect(JSON.parse(jobRecordJson(finishJob(requeued, 'COMPLETED', 41_000)))).toMatchObject({ executionTime: 40_000 })
    const again = leaseJob(requeued, B, 50_000, TIMES)
    expect(JSON.parse(jobRecordJson(finishJob(again, 'CANCELLED', 52_000)))).toMatchObject({ delayTime: 50_000, executionTime: 2_000 })
  })

  test('[LSE-5] a sign of the job between two pings that miss it starts the count again, also when the job is about to be given up', () => {
    const missed = missPing(renewLease(leaseJob(queuedJob(), A, 0, TIMES), 0, TIMES), 10_000)
    expect(missPing(renewLease(missed, 11_000, TIMES), 20_000).leaseUntilMs).toBe(51_000)
    const idle = showIdle(missed, 10_000)
    expect(missPing(renewLease(idle, 11_000, TIMES), 11_500).leaseUntilMs).toBe(12_000)
  })

  test('[LSE-7] silence counts from the last ping', () => {
    const worker = { lastSeenAtMs: 5_000, excusedUntilMs: null, loadedAtMs: null, watchedUntilMs: null }
    expect(silentAtMs(worker, 40_000)).toBe(45_000)
  })

  test('[LSE-4] a ping extends the lease to 4 intervals from now', () => {
    const job = renewLease(leaseJob(queuedJob(), A, 0, TIMES), 20_000, TIMES)
    expect(applyTime(job, 59_999).kind).toBe('none')
    expect(applyTime(job, 60_000).kind).toBe('lease-ended')
  })

  test('[LSE-5] an acknowledged job missing from two pings in a row is lost; one miss and a listing are forgiven', () => {
    const acked = renewLease(leaseJob(queuedJob(), A, 0, TIMES), 1_000, TIMES)
    const once = missPing(acked, 11_000)
    expect(applyTime(once, 11_000).kind).toBe('none')
    expect(applyTime(missPing(once, 21_000), 21_000)).toMatchObject({ kind: 'lease-ended', reason: 'result lost' })
    const listedAgain = renewLease(once, 21_000, TIMES)
    expect(applyTime(missPing(listedAgain, 31_000), 31_000).kind).toBe('none')
  })

  test('[WRK-22] a job that was never confirmed is not lost by pings that do not list it yet', () => {
    const job = leaseJob(queuedJob(), A, 0, TIMES)
    expect(missPing(missPing(job, 1), 2)).toEqual(job)
  })

  test('[LSE-3] a worker that reports no jobs gets 2 s for a result in flight, and never a longer lease', () => {
    const job = renewLease(leaseJob(queuedJob(), A, 0, TIMES), 0, TIMES)
    const idle = showIdle(job, 10_000)
    expect(dueAtMs(idle)).toBe(12_000)
    expect(showIdle(idle, 11_000)).toEqual(idle)
  })

  test('[LSE-8] the first lost lease requeues, the second fails with the text clients match and the cause beside it', () => {
    const first = queued(endLease(leaseJob(queuedJob(), A, 0, TIMES), 'worker exited with code 137', 100, 'retry'))
    expect(first).toMatchObject({ state: 'IN_QUEUE', retries: 1, orderKey: 1 })
    const second = endLease(leaseJob(first, B, 200, TIMES), 'worker exited with code 1', 300, 'retry')
    expect(second).toMatchObject({
      state: 'FAILED',
      error: 'job timed out after 1 retries',
      errorDetail: 'worker exited with code 1',
      finishedAtMs: 300,
    })
  })

  test('[CTL-10, LSE-10] after /retry the results of attempts before it are late for good', () => {
    const failed = finishJob(leaseJob(queuedJob(), A, 1_000, TIMES), 'FAILED', 9_000, 'x')
    expect(judgePost(failed, A, true)).toBe('duplicate')
    const again = retryJob(failed, 9)
    expect(judgePost(again, A, true)).toBe('superseded')
    expect(again).toMatchObject({ state: 'IN_QUEUE', errorDetail: null, retries: 0, holder: null })
  })

  test('[WRK-29] a job that the platform took back is requeued without counting a retry', () => {
    const job = endLease(leaseJob(queuedJob({ retries: 1 }), A, 0, TIMES), 'drained', 10, 'free')
    expect(job).toMatchObject({ state: 'IN_QUEUE', retries: 1 })
  })

  test('[LSE-9] a boot never holds the same job twice, another boot of the same worker may', () => {
    const job = queued(endLease(leaseJob(queuedJob(), A, 0, TIMES), 'lost', 10, 'retry'))
    expect(mayHold(job, A)).toBe(false)
    expect(mayHold(job, { ...A, boot: 'other' })).toBe(true)
    expect(mayHold(retryJob(finishJob(job, 'FAILED', 20, 'x'), 9), A)).toBe(false)
  })
})

describe('fencing', () => {
  const running = leaseJob(queuedJob(), A, 0, TIMES)
  const requeued = queued(endLease(running, 'lost', 10, 'retry'))
  const again = leaseJob(requeued, B, 20, TIMES)

  test.each([
    ['the holder of the running attempt is heard', running, A, true, 'accept'],
    ['another boot of the same worker is not', running, { ...A, boot: 'b0' }, true, 'superseded'],
    ['[LSE-11] a late final result before the next attempt is accepted', requeued, A, true, 'accept-late'],
    ['late progress is not', requeued, A, false, 'superseded'],
    ['[LSE-10] once a newer attempt runs, the old one changes nothing', again, A, true, 'superseded'],
    ['a repeat of the committed result is a duplicate', finishJob(running, 'COMPLETED', 30), A, true, 'duplicate'],
    ['[JOB-6] progress after the end is not heard', finishJob(running, 'COMPLETED', 30), A, false, 'superseded'],
    ['a job that never ran belongs to no boot', queuedJob(), A, true, 'superseded'],
  ] as const)('%s', (_title, job, from, final, verdict) => {
    expect(judgePost(job, from, final)).toBe(verdict)
  })
})

describe('timers', () => {
  test('[TMO-2] the execution timeout ends the job at the first instant it has passed', () => {
    const job = renewLease(leaseJob(queuedJob({ executionTimeoutMs: 5_000 }), A, 4_000, TIMES), 4_000, TIMES)
    expect(dueAtMs(job)).toBe(9_000)
    expect(applyTime(job, 8_999).kind).toBe('none')
    expect(applyTime(job, 9_000)).toMatchObject({ kind: 'stop', job: { state: 'FAILED', error: 'executionTimeout exceeded' } })
  })

  test.each([
    ['queued', queuedJob({ ttlAtMs: 11_000 })],
    ['running', renewLease(leaseJob(queuedJob({ ttlAtMs: 11_000 }), A, 2_000, TIMES), 2_000, TIMES)],
    ['completed', finishJob(leaseJob(queuedJob({ ttlAtMs: 11_000 }), A, 2_000, TIMES), 'COMPLETED', 3_000)],
  ])('[TMO-1] ttl deletes a %s job, not a millisecond early', (_state, job) => {
    expect(applyTime(job, 10_999).kind).toBe('none')
    expect(applyTime(job, 11_000)).toMatchObject({ kind: 'delete' })
  })

  test('[TMO-3] a result is kept for its retention and then deleted', () => {
    const job = finishJob(leaseJob(queuedJob({ retentionMs: 60_000 }), A, 0, TIMES), 'COMPLETED', 10_000)
    expect(applyTime(job, 69_999).kind).toBe('none')
    expect(applyTime(job, 70_000)).toEqual({ kind: 'delete', wasRunning: false })
  })
})

test('[STR-10, LSE-4, LSE-35] a chunk renews the lease and takes the next number, over attempts and retries', () => {
  const running = leaseJob(queuedJob(), A, 0, TIMES)
  const first = addChunk(running, 5_000, TIMES)
  expect(first).toEqual({ ...renewLease(running, 5_000, TIMES), chunks: 1 })
  const again = leaseJob(queued(endLease(first, 'lost', 6_000, 'retry')), B, 7_000, TIMES)
  expect(addChunk(again, 8_000, TIMES).chunks).toBe(2)
  expect(retryJob(finishJob(first, 'FAILED', 9_000), 9).chunks).toBe(1)
})
