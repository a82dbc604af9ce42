import { expect, test } from 'vitest'
import { formatJobId } from '../../src/domain/job/id.ts'
import { submitJob } from '../../src/domain/job/job.ts'
import { leaseJob, renewLease } from '../../src/domain/job/lease.ts'
import type { WorkerIn } from '../../src/domain/worker/worker.ts'
import { beginCommit } from '../../src/queue/commit.ts'
import { applyDeadlines, nextDueAtMs } from '../../src/queue/deadlines.ts'
import { takePing } from '../../src/queue/pings.ts'
import { Effects, type Tx } from '../../src/queue/tx.ts'
import { MemoryState, NO_TAKES } from '../support/queue/memory-state.ts'
import { workerIn } from '../support/queue/workers.ts'

const P = 10_000
const TERM = 4 * P
const HOLDER = { workerId: 'w', boot: 'b' }

/** A queue whose worker holds a job and has pinged at 1 s. */
function queue(worker: Partial<WorkerIn<'READY'>> = {}) {
  const state = new MemoryState()
  const times = { pingIntervalMs: P }
  const seq = state.jobs.nextSequence()
  const submitted = submitJob({
    ...{
      seq,
      id: formatJobId(seq, false, state.meta.idMask(), state.randomBytes(10)),
      lowPriority: false,
      webhook: null,
      hasS3Config: false,
    },
    ...{ createdAtMs: 0, ttlAtMs: 10_000_000, executionTimeoutMs: 9_000_000, retentionMs: 1 },
  })
  const running = renewLease(leaseJob(submitted, HOLDER, 0, times), 1_000, times)
  state.jobs.insert(submitted)
  state.jobs.save(submitted, running)
  state.workers.save(workerIn('READY', 'w', { lastSeenAtMs: 1_000, ...worker }))
  return state
}

const at = (state: MemoryState, nowMs: number): Tx => ({ state, nowMs, effects: new Effects() })

function ping(state: MemoryState, nowMs: number): void {
  const job = state.jobs.bySeq(1)
  if (job) takePing(at(state, nowMs), HOLDER, { listed: new Set([job.id]), sdkVersion: null, unhealthy: null })
}

/** The first commit after the object was loaded anew. */
function loaded(state: MemoryState, nowMs: number): MemoryState {
  const next = state.restarted(NO_TAKES)
  beginCommit(at(next, nowMs), true)
  applyDeadlines(at(next, nowMs))
  return next
}

const seen = (state: MemoryState) => [state.jobs.bySeq(1)?.state, state.workers.get('w')?.phase]

test('[LSE-24] a queue that is loaded long after the row of a lease was written waits one whole term for a ping', () => {
  const state = queue()
  for (let ms = 10_000; ms <= 300_000; ms += P) ping(state, ms)
  const next = loaded(state, 305_000)
  expect(nextDueAtMs(next, 305_000, new Set())).toBe(305_000 + TERM)
  applyDeadlines(at(next, 305_000 + TERM - 1))
  expect(seen(next), 'still waited for').toEqual(['IN_PROGRESS', 'READY'])
  applyDeadlines(at(next, 305_000 + TERM))
  expect(seen(next), 'not for ever').toEqual(['IN_QUEUE', 'FAILED'])
  expect(next.jobs.bySeq(1)).toMatchObject({ retries: 1, hostLosses: 0, errorDetail: expect.stringContaining('reloaded') })
})

test('[LSE-24] however often it is loaded, a worker that does not ping again is waited for once', () => {
  let state = queue()
  for (let ms = 10_000; ms <= 300_000; ms += P) ping(state, ms)
  for (let ms = 305_000; ms < 305_000 + TERM; ms += 5_000) {
    state = loaded(state, ms)
    expect(seen(state), String(ms)).toEqual(['IN_PROGRESS', 'READY'])
  }
  expect(seen(loaded(state, 305_000 + TERM))).toEqual(['IN_QUEUE', 'FAILED'])
})

test('[LSE-24] a worker that pings is waited for after each load', () => {
  let state = queue()
  for (let ms = 10_000; ms <= 900_000; ms += P) {
    ping(state, ms)
    state = loaded(state, ms + 9_000)
  }
  expect(seen(state)).toEqual(['IN_PROGRESS', 'READY'])
})

test('[LSE-24] a job that its worker has shown lost, and a worker that never confirmed its job, get no term', () => {
  const state = queue()
  const job = state.jobs.bySeq(1)
  if (job?.state !== 'IN_PROGRESS') throw new Error('no job')
  for (const change of [{ leaseEndReason: 'result lost' }, { leaseEndReason: 'the worker never confirmed the job', acked: false }]) {
    state.jobs.save(job, { ...job, ...change, leaseUntilMs: 5_000 })
    expect(loaded(state, 6_000).jobs.bySeq(1)?.state, change.leaseEndReason).toBe('IN_QUEUE')
  }
})

test('[LSE-24] [WRK-44] an idle worker that pings and takes nothing is detected, however often its queue is loaded', () => {
  const NO_TAKE_MS = 120_000
  const GRAIN_MS = 60_000
  let state = queue({ lastTakeAtMs: 1_000, idleSinceMs: 1_000 })
  state.jobs.remove(state.jobs.bySeq(1) as never)
  let ms = 10_000
  for (; state.workers.get('w')?.phase === 'READY' && ms < 600_000; ms += P) {
    takePing(at(state, ms), HOLDER, { listed: new Set(), sdkVersion: null, unhealthy: null })
    state = loaded(state, ms + 5_000)
  }
  expect(ms).toBeGreaterThan(NO_TAKE_MS)
  expect(ms).toBeLessThanOrEqual(1_000 + NO_TAKE_MS + GRAIN_MS + 2 * P)
})
