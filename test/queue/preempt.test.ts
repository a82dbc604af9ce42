import { describe, expect, test } from 'vitest'
import { SEED_CATALOG } from '../../src/domain/catalog/seed.ts'
import { createEndpointConfig } from '../../src/domain/endpoint/config.ts'
import { submitJob } from '../../src/domain/job/job.ts'
import { leaseJob } from '../../src/domain/job/lease.ts'
import { plainSubmission } from '../../src/domain/job/submit.ts'
import type { Worker } from '../../src/domain/worker/worker.ts'
import { acceptJob } from '../../src/queue/accept.ts'
import { endCommit } from '../../src/queue/commit.ts'
import { takeConfig } from '../../src/queue/endpoint-life.ts'
import type { DecisionRows } from '../../src/queue/state.ts'
import { Effects, type Tx } from '../../src/queue/tx.ts'
import { isJobWaiting, leavingWorkers } from '../../src/queue/workers/outside-calls.ts'
import { preempt, requestCapacity } from '../../src/queue/workers/preempt.ts'
import { MemoryState } from '../support/queue/memory-state.ts'
import { workerIn } from '../support/queue/workers.ts'

const NOW_MS = 100_000
const OWN = { endpointId: 'other', own: true }
const FOREIGN = { endpointId: 'stranger', own: false }
const idle = (id: string, forMs: number) =>
  workerIn('READY', id, { idleSinceMs: NOW_MS - forMs, lastSeenAtMs: NOW_MS, lastTakeAtMs: NOW_MS })

/** An endpoint at one instant, with workers that are idle unless a job is given. */
function queueWith(workers: readonly Worker[], { min = 0, idleTimeout = 600 } = {}) {
  const state = new MemoryState()
  const noted: Parameters<DecisionRows['note']>[] = []
  state.decisions.note = (...decision: Parameters<DecisionRows['note']>) => void noted.push(decision)
  const tx = (nowMs = NOW_MS): Tx => ({ state, nowMs, effects: new Effects() })
  const body = { name: 'n', image: 'i', gpu: { pools: ['ADA_24'] }, workers: { min, max: 3, idleTimeout } }
  const made = createEndpointConfig(SEED_CATALOG, body, { id: 'e', teamId: 't' }, 0)
  if (!made.ok) throw new Error(made.problem.detail)
  takeConfig(tx(), made.config)
  for (const worker of workers) state.workers.save(worker)
  return { state, tx, noted, phases: () => state.workers.all().map(({ phase }) => phase) }
}

function submit(tx: Tx, lowPriority = false): void {
  const submission = { ...plainSubmission('{}'), lowPriority, ttlMs: 1_000_000 }
  acceptJob(tx, { submission, sync: false, waitMs: 0, sealS3Config: null })
}

function hold(state: MemoryState, workerId: string): void {
  const job = submitJob({
    ...{ seq: state.jobs.nextSequence(), id: `of ${workerId}`, lowPriority: false, webhook: null, hasS3Config: false },
    ...{ createdAtMs: 0, ttlAtMs: 1_000_000, executionTimeoutMs: 1_000_000, retentionMs: 1 },
  })
  state.jobs.insert(job)
  state.jobs.save(job, leaseJob(job, { workerId, boot: 'b' }, 0, { pingIntervalMs: 10_000 }))
}

describe('[PREEMPT-1] preempted workers', () => {
  test('leave, and the decision names the requester', () => {
    const { state, tx, noted, phases } = queueWith([idle('a', 5_000), idle('b', 5_000)])
    const now = tx()
    expect(preempt(now, { seeker: OWN, workerIds: ['a'] })).toBe(true)
    expect(phases()).toEqual(['DRAINING', 'READY'])
    expect(state.workers.get('a')?.reason).toBe('preempted by endpoint other')
    expect(noted.map(([decision]) => decision)).toEqual([
      { desired: 1, current: 2, start: 0, stop: ['a'], reason: 'preempted by endpoint other', nextAtMs: null },
    ])
    expect([...now.effects.releasedTakes]).toEqual(['a'])
    expect(leavingWorkers(state)).toEqual(['a'])
  })

  test('[PREEMPT-5] leave without naming another account', () => {
    const { tx, noted } = queueWith([idle('a', 10_000)])
    expect(preempt(tx(), { seeker: FOREIGN, workerIds: ['a'] })).toBe(true)
    expect(noted.map(([decision]) => decision.reason)).toEqual(['preempted by another account'])
  })

  test.each<[string, readonly Worker[], string[], (state: MemoryState, tx: Tx) => void, object]>([
    ['a worker that has a job by then', [idle('a', 5_000)], ['a'], (state) => hold(state, 'a'), {}],
    ['one beside a job that came meanwhile', [idle('a', 5_000)], ['a'], (_, tx) => submit(tx), {}],
    ['one beside a low priority job that came meanwhile', [idle('a', 5_000)], ['a'], (_, tx) => submit(tx, true), {}],
    ['a worker that was idle for too short a time', [idle('a', 999)], ['a'], () => undefined, {}],
    ['the last of workers.min', [idle('a', 5_000)], ['a'], () => undefined, { min: 1 }],
    ['more than can be spared', [idle('a', 5_000), idle('b', 5_000)], ['a', 'b'], () => undefined, { min: 1 }],
    ['one of which one is not known', [idle('a', 5_000), idle('b', 5_000)], ['a', 'x'], () => undefined, {}],
  ])('[PREEMPT-2] no worker leaves: %s', (_case, workers, workerIds, meanwhile, bounds) => {
    const { state, tx, noted, phases } = queueWith(workers, bounds)
    meanwhile(state, tx())
    expect(preempt(tx(), { seeker: OWN, workerIds })).toBe(false)
    expect(phases()).toEqual(workers.map(() => 'READY'))
    expect(noted).toEqual([])
  })
})

describe('[PREEMPT-3] a requester of room', () => {
  test('is notified at the instant at which a worker may leave', () => {
    const { tx } = queueWith([idle('a', 600)])
    expect(requestCapacity(tx(), OWN)).toMatchObject({ spare: 1, holders: [{ workerId: 'a', use: 'idle', idleMs: 600 }] })
    const now = tx()
    expect(endCommit(now, true).scaleAtMs).toBe(NOW_MS + 400)
    expect([...now.effects.capacitySeekers]).toEqual([])
    const later = tx(NOW_MS + 400)
    endCommit(later, true)
    expect([...later.effects.capacitySeekers]).toEqual(['other'])
    const again = tx(NOW_MS + 401)
    endCommit(again, true)
    expect([...again.effects.capacitySeekers], 'once').toEqual([])
  })

  test('[PREEMPT-4] of another account is notified after 10 s', () => {
    const { tx } = queueWith([idle('a', 600)])
    requestCapacity(tx(), FOREIGN)
    expect(endCommit(tx(), true).scaleAtMs).toBe(NOW_MS + 9_400)
    const later = tx(NOW_MS + 9_400)
    endCommit(later, true)
    expect([...later.effects.capacitySeekers]).toEqual(['stranger'])
  })

  test('makes the endpoint check again at that instant', () => {
    const { tx } = queueWith([idle('a', 600)])
    const now = tx()
    requestCapacity(now, OWN)
    expect(now.effects.scale).toBe(true)
  })

  test('is forgotten once it has room', () => {
    const { state, tx } = queueWith([idle('a', 5_000), idle('b', 600)])
    requestCapacity(tx(), OWN)
    preempt(tx(), { seeker: OWN, workerIds: ['a'] })
    expect(state.meta.capacitySeekers()).toEqual([])
  })
})

describe('[PREEMPT-2] a job that waits', () => {
  test.each<[string, boolean, readonly Worker[], number]>([
    ['no job', false, [], 0],
    ['a job', true, [], 1],
    ['a job, and a worker that starts', false, [workerIn('STARTING', 's')], 1],
    ['a job, and an idle worker', false, [idle('a', 5)], 1],
    ['two jobs, and an idle worker', true, [idle('a', 5)], 2],
    ['a job, and a worker that looks for a host', true, [workerIn('PLACING', 'p')], 1],
  ])('%s: %s', (_case, waits, workers, jobs) => {
    const { state, tx } = queueWith(workers)
    for (let i = 0; i < jobs; i++) submit(tx())
    expect(isJobWaiting(state)).toBe(waits)
  })

  test('makes a worker without room search again, 5 s after its last search', () => {
    const throttled = (attempts: number, nextAttemptAtMs: number) => workerIn('PLACING', 'p', { attempts, nextAttemptAtMs, reason: 'full' })
    const nextOf = (worker: Worker, lowPriority = false) => {
      const { state, tx } = queueWith([worker])
      submit(tx(), lowPriority)
      submit(tx(), lowPriority)
      return state.workers.get('p')
    }
    // Last search 20 s ago, next in 40 s; last 2 s ago, next in 8 s; next in a moment.
    expect(nextOf(throttled(5, NOW_MS + 40_000))).toMatchObject({ nextAttemptAtMs: NOW_MS })
    expect(nextOf(throttled(2, NOW_MS + 8_000))).toMatchObject({ nextAttemptAtMs: NOW_MS + 3_000 })
    expect(nextOf(throttled(1, NOW_MS + 4_000))).toMatchObject({ nextAttemptAtMs: NOW_MS + 4_000 })
    expect(nextOf(throttled(5, NOW_MS + 40_000), true)).toMatchObject({ nextAttemptAtMs: NOW_MS + 40_000 })
  })
})
