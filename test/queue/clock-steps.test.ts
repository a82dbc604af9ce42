import { expect, test } from 'vitest'
import { submitJob } from '../../src/domain/job/job.ts'
import { leaseJob, renewLease } from '../../src/domain/job/lease.ts'
import { moveDeadlines, stepOverRestOf } from '../../src/queue/clock-steps.ts'
import { beginCommit } from '../../src/queue/commit.ts'
import { applyDeadlines } from '../../src/queue/deadlines.ts'
import { Effects, type Tx } from '../../src/queue/tx.ts'
import { MemoryState } from '../support/queue/memory-state.ts'
import { workerIn } from '../support/queue/workers.ts'

const HOUR_MS = 3_600_000
const START_MS = 10 * HOUR_MS
const SEEN_MS = START_MS + 1_000
const P_MS = 10_000
const TIMES = { pingIntervalMs: P_MS }

/** A worker that runs a job, both seen at SEEN_MS. */
function running(executionTimeoutMs: number) {
  const state = new MemoryState()
  state.pingIntervalMs = P_MS
  state.workers.save(workerIn('READY', 'w', { lastSeenAtMs: SEEN_MS, lastTakeAtMs: START_MS, idleSinceMs: null }))
  const submitted = submitJob({
    ...{ seq: state.jobs.nextSequence(), id: 'j', lowPriority: false, webhook: null, hasS3Config: false },
    ...{ createdAtMs: START_MS, ttlAtMs: START_MS + 100 * HOUR_MS, executionTimeoutMs, retentionMs: 1 },
  })
  state.jobs.insert(submitted)
  state.jobs.save(submitted, renewLease(leaseJob(submitted, { workerId: 'w', boot: 'b' }, START_MS, TIMES), SEEN_MS, TIMES))
  const tx = (nowMs: number): Tx => ({ state, nowMs, effects: new Effects() })
  const job = () => state.jobs.bySeq(1)?.state
  return { state, tx, job }
}

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('[CLK-3, CLK-4] after an hour %s a lease and an execution timeout are as far away as before', (_, stepMs) => {
  for (const [executionTimeoutMs, endsInMs] of [
    [100 * HOUR_MS, 4 * P_MS],
    [30_000, 29_000],
  ] as const) {
    const { tx, job } = running(executionTimeoutMs)
    const nowMs = SEEN_MS + stepMs
    moveDeadlines(tx(nowMs), stepMs)
    applyDeadlines(tx(nowMs + endsInMs - 1))
    expect(job()).toBe('IN_PROGRESS')
    applyDeadlines(tx(nowMs + endsInMs))
    expect(job()).not.toBe('IN_PROGRESS')
  }
})

test('[CLK-3] an object that rested while the clock was set back finds out by its rows', () => {
  const { tx, job, state } = running(100 * HOUR_MS)
  const nowMs = SEEN_MS - HOUR_MS
  moveDeadlines(tx(nowMs), stepOverRestOf(tx(nowMs)))
  expect(state.workers.get('w')).toMatchObject({ lastSeenAtMs: nowMs })
  applyDeadlines(tx(nowMs + 4 * P_MS))
  expect(job()).toBe('IN_QUEUE')
})

test('[CLK-4] a job that runs while the plane is away does not exceed its execution timeout by that', () => {
  const { tx, job, state } = running(30_000)
  state.meta.setAlarmAtMs(SEEN_MS + 20_000)
  const nowMs = SEEN_MS + HOUR_MS
  moveDeadlines(tx(nowMs), stepOverRestOf(tx(nowMs)))
  beginCommit(tx(nowMs), false)
  applyDeadlines(tx(nowMs + 28_000))
  expect(job()).toBe('IN_PROGRESS')
  applyDeadlines(tx(nowMs + 30_000))
  expect(job()).toBe('FAILED')
})

test.each([
  ['asks for work', workerIn('READY', 'w', { idleSinceMs: null })],
  ['was once waited for', workerIn('READY', 'w', { idleSinceMs: null, excusedUntilMs: SEEN_MS + 5_000 })],
  ['finishes its last job', workerIn('DRAINING', 'w')],
])('[CLK-4] [LSE-24] pings that are in no row do not lengthen an execution: a worker that %s', (_, worker) => {
  const { tx, job, state } = running(4 * HOUR_MS)
  state.workers.save({ ...worker, lastSeenAtMs: SEEN_MS })
  // It pinged for three hours, and the alarm was set by the last ping.
  const lastMs = SEEN_MS + 3 * HOUR_MS
  state.meta.setAlarmAtMs(lastMs + 4 * P_MS)
  const backMs = lastMs + 10 * 60_000
  moveDeadlines(tx(backMs), stepOverRestOf(tx(backMs)))
  beginCommit(tx(backMs), true)
  expect(job()).toBe('IN_PROGRESS')
  const movedMs = (state.jobs.bySeq(1)?.startedAtMs ?? 0) - START_MS
  expect(movedMs).toBeGreaterThan(9 * 60_000)
  expect(movedMs).toBeLessThanOrEqual(10 * 60_000)
})

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('[CLK-7] after an hour %s the ttl and the dates of a job are as they were', (_, stepMs) => {
  const { tx, state } = running(100 * HOUR_MS)
  const before = state.jobs.bySeq(1)
  const nowMs = SEEN_MS + stepMs
  moveDeadlines(tx(nowMs), stepMs)
  expect(state.jobs.bySeq(1)).toMatchObject({ ttlAtMs: before?.ttlAtMs, createdAtMs: before?.createdAtMs })
})
