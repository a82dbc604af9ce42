import { expect, test } from 'vitest'
import { submitJob } from '../../src/domain/job/job.ts'
import { leaseJob, renewLease } from '../../src/domain/job/lease.ts'
import type { Worker } from '../../src/domain/worker/worker.ts'
import { beginCommit } from '../../src/queue/commit.ts'
import { applyDeadlines } from '../../src/queue/deadlines.ts'
import { Effects, type Tx } from '../../src/queue/tx.ts'
import { MemoryState } from '../support/queue/memory-state.ts'
import { workerIn } from '../support/queue/workers.ts'

// The plane was away: its alarm, due at ARMED_MS, runs only at BACK_MS.
const ARMED_MS = 10_000
const BACK_MS = 100_000

function queueWith(worker: Worker, pingIntervalMs: number) {
  const state = new MemoryState()
  state.pingIntervalMs = pingIntervalMs
  state.workers.save(worker)
  state.meta.setAlarmAtMs(ARMED_MS)
  return { state, tx: (nowMs: number): Tx => ({ state, nowMs, effects: new Effects() }) }
}

/** One commit at an instant, as the alarm makes it. */
function check(tx: Tx): void {
  beginCommit(tx, false)
  applyDeadlines(tx)
}

test.each([
  [1_000, 35_000],
  [10_000, 40_000],
])('[LSE-34, LSE-20] with pings every %i ms a job waits %i ms for a host that returns after its plane', (pingIntervalMs, waitMs) => {
  const { state, tx } = queueWith(workerIn('READY', 'w', { lastSeenAtMs: 0 }), pingIntervalMs)
  const submitted = submitJob({
    ...{ seq: state.jobs.nextSequence(), id: 'j', lowPriority: false, webhook: null, hasS3Config: false },
    ...{ createdAtMs: 0, ttlAtMs: 1_000_000, executionTimeoutMs: 1_000_000, retentionMs: 1 },
  })
  const times = { pingIntervalMs }
  state.jobs.insert(submitted)
  state.jobs.save(submitted, renewLease(leaseJob(submitted, { workerId: 'w', boot: 'b' }, 0, times), 1_000, times))

  check(tx(BACK_MS))
  check(tx(BACK_MS + waitMs - 1))
  expect([state.jobs.bySeq(1)?.state, state.workers.get('w')?.phase], 'still waited for').toEqual(['IN_PROGRESS', 'READY'])
  check(tx(BACK_MS + waitMs))
  expect([state.jobs.bySeq(1)?.state, state.workers.get('w')?.phase], 'not for ever').toEqual(['IN_QUEUE', 'FAILED'])
  // LSE-20: the plane does not know what became of the worker while it was away.
  expect(state.jobs.bySeq(1)).toMatchObject({
    retries: 0,
    hostLosses: 1,
    errorDetail: expect.stringContaining('the plane was unavailable'),
  })
})

test('[LB-20] a worker that serves requests outlives the return of its plane', () => {
  const serves = workerIn('READY', 'w', { lastSeenAtMs: null, lastTakeAtMs: null, idleSinceMs: 0 })
  const { state, tx } = queueWith(serves, 10_000)
  check(tx(BACK_MS))
  check(tx(BACK_MS + 3_600_000))
  expect(state.workers.get('w')).toEqual(serves)
})
