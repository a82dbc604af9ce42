import { describe, expect, test } from 'vitest'
import {
  decideScaling,
  desiredByQueueDelay,
  desiredByRequestCount,
  launchBackoffMs,
  REQUEST_COUNT_IDLE_MS,
  type ScalingInputs,
  waitingSampleSize,
} from '../../../src/domain/worker/scaling.ts'
import { isNewDecision, recordDecision } from '../../../src/domain/worker/scaling-record.ts'
import { activeWorkers, countWorkers, placementRetryMs } from '../../../src/domain/worker/worker.ts'
import { workerIn } from '../../support/queue/workers.ts'

const NOW = 10_000
const COUNT_1 = { type: 'REQUEST_COUNT', requestCount: 1 } as const
const COUNT_4 = { type: 'REQUEST_COUNT', requestCount: 4 } as const

const inputs = (change: Partial<ScalingInputs>): ScalingInputs => ({
  policy: { type: 'QUEUE_DELAY', queueDelay: 4 },
  queued: change.waitingSinceMs?.length ?? 0,
  waitingSinceMs: [],
  workers: [],
  held: new Map(),
  heldNormal: change.held ?? new Map(),
  min: 0,
  max: 3,
  idleTimeoutMs: 5_000,
  version: 1,
  launchNotBeforeMs: 0,
  nowMs: NOW,
  ...change,
})

const busy = (...ids: string[]) => new Map(ids.map((id) => [id, 1]))
const waitedMs = (...ages: number[]) => ages.map((age) => NOW - age)

test('[SCALE-5, SCALE-6] a draining worker that still works holds back starts, but pushes no idle worker out', () => {
  const idleFor = (ms: number) => ({ idleSinceMs: NOW - ms })
  const workers = [
    workerIn('READY', 'a', idleFor(60_000)),
    workerIn('READY', 'b', idleFor(60_000)),
    workerIn('READY', 'c', idleFor(60_000)),
    workerIn('DRAINING', 'd'),
  ]
  const full = { workers, held: busy('d'), min: 3, max: 3 }
  expect(decideScaling(inputs(full))).toMatchObject({ desired: 3, current: 3, start: 0, stop: [] })
  expect(decideScaling(inputs({ ...full, workers: workers.slice(1) }))).toMatchObject({ current: 2, start: 0, stop: [] })
  expect(decideScaling(inputs({ ...full, workers: workers.slice(1), held: new Map() }))).toMatchObject({ start: 1, stop: [] })
})

describe('scaling by queue delay', () => {
  test('nothing queued, nothing wanted: no worker', () => {
    expect(decideScaling(inputs({}))).toEqual({
      desired: 0,
      current: 0,
      start: 0,
      stop: [],
      reason: 'no job waits',
      nextAtMs: null,
    })
  })

  test('[SCALE-11] with no worker there, the first one starts at once, and only that one', () => {
    expect(decideScaling(inputs({ waitingSinceMs: waitedMs(0, 0, 0) }))).toMatchObject({ desired: 1, start: 1, nextAtMs: NOW + 4_000 })
    expect(decideScaling(inputs({ waitingSinceMs: waitedMs(0), max: 0 }))).toMatchObject({ desired: 0, start: 0 })
  })

  test.each([
    [3_999, 0, NOW + 1],
    [4_000, 1, null],
    [4_001, 1, null],
  ])('[SCALE-2, TMO-10] beside a busy worker, a job that has waited %i ms adds %i', (age, start, nextAtMs) => {
    const load = { workers: [workerIn('READY', 'a')], held: busy('a') }
    expect(decideScaling(inputs({ ...load, waitingSinceMs: waitedMs(age) }))).toMatchObject({ start, nextAtMs })
  })

  test('[SCALE-2] one worker for each overdue job, less those that are free or coming', () => {
    const waitingSinceMs = waitedMs(9_000, 5_000, 4_000, 1_000)
    const load = { queued: 4, waitingSinceMs, current: 1, available: 1 }
    expect(desiredByQueueDelay({ ...load, free: 0 }, 4_000, NOW).workers).toBe(4)
    expect(desiredByQueueDelay({ ...load, free: 1 }, 4_000, NOW).workers).toBe(3)
    expect(desiredByQueueDelay({ ...load, free: 5 }, 4_000, NOW).workers).toBe(1)
  })

  test('[SCALE-2] it decides again when the delay of the first job that no worker is coming for passes', () => {
    const load = { queued: 3, waitingSinceMs: waitedMs(3_000, 2_000, 1_000), current: 2, available: 2 }
    expect(desiredByQueueDelay({ ...load, free: 0 }, 4_000, NOW).nextAtMs).toBe(NOW + 1_000)
    expect(desiredByQueueDelay({ ...load, free: 1 }, 4_000, NOW).nextAtMs).toBe(NOW + 2_000)
    expect(desiredByQueueDelay({ ...load, free: 3 }, 4_000, NOW).nextAtMs).toBeNull()
  })

  test('[SCALE-2, SCALE-10] a requeued or retried job counts from its submission, wherever it stands', () => {
    expect(
      desiredByQueueDelay({ queued: 2, waitingSinceMs: waitedMs(0, 60_000), current: 1, free: 0, available: 1 }, 4_000, NOW),
    ).toMatchObject({
      workers: 2,
      nextAtMs: NOW + 4_000,
    })
  })

  test('[WRK-45, SCALE-13] a worker with only a stopped or low priority job is none: the next job gets one at once', () => {
    const load = { workers: [workerIn('READY', 'a')], held: busy('a'), waitingSinceMs: waitedMs(0) }
    expect(decideScaling(inputs({ ...load, heldNormal: new Map() })).start).toBe(1)
    expect(decideScaling(inputs({ ...load, heldNormal: busy('a') })).start).toBe(0)
  })

  test('the age of as many jobs is asked for as could start workers now', () => {
    const long = { queued: 1_000_000, max: 1_000 }
    expect(waitingSampleSize(inputs(long))).toBe(10)
    expect(waitingSampleSize(inputs({ ...long, workers: [workerIn('STARTING', 'a'), workerIn('READY', 'b')], held: busy('b') }))).toBe(11)
    expect(waitingSampleSize(inputs({ ...long, max: 1, workers: [workerIn('READY', 'b')], held: busy('b') }))).toBe(0)
    expect(waitingSampleSize(inputs({ ...long, policy: COUNT_1 }))).toBe(0)
    expect(waitingSampleSize(inputs({ queued: 0 }))).toBe(0)
  })
})

describe('scaling by request count', () => {
  test.each([
    [0, 0],
    [1, 1],
    [4, 1],
    [5, 2],
    [8, 2],
    [9, 3],
  ])('[SCALE-3] %i requests at 4 a worker are %i workers', (requests, workers) => {
    expect(desiredByRequestCount({ requests, unavailable: 0 }, 4).workers).toBe(workers)
  })

  test('[SCALE-3] queued and running jobs count together, within min and max', () => {
    const running = { policy: COUNT_4, workers: [workerIn('READY', 'a')], held: new Map([['a', 3]]) }
    expect(decideScaling(inputs({ ...running, queued: 1 })).desired).toBe(1)
    expect(decideScaling(inputs({ ...running, queued: 2 }))).toMatchObject({ desired: 2, start: 1 })
    expect(decideScaling(inputs({ ...running, queued: 99 }))).toMatchObject({ desired: 3, start: 2 })
    expect(decideScaling(inputs({ policy: COUNT_4, min: 2 }))).toMatchObject({ desired: 2, start: 2 })
  })

  test('[SCALE-4, SCALE-13] a running low priority job neither starts a worker nor takes the place of one', () => {
    const low = { policy: COUNT_1, workers: [workerIn('READY', 'a')], held: busy('a'), heldNormal: new Map<string, number>() }
    expect(decideScaling(inputs(low))).toMatchObject({ desired: 1, start: 0 })
    expect(decideScaling(inputs({ ...low, queued: 1 }))).toMatchObject({ desired: 2, start: 1 })
  })

  test.each([
    [REQUEST_COUNT_IDLE_MS - 1, []],
    [REQUEST_COUNT_IDLE_MS, ['a']],
    [REQUEST_COUNT_IDLE_MS + 1, ['a']],
  ])('[SCALE-1, SCALE-12] a worker idle for %i ms, with any idle timeout stored: stops %j', (idleMs, stop) => {
    const workers = [workerIn('READY', 'a', { idleSinceMs: NOW - idleMs })]
    expect(decideScaling(inputs({ policy: COUNT_1, workers, idleTimeoutMs: 1 })).stop).toEqual(stop)
  })

  test('[SCALE-3] as many idle workers are kept as the count asks for', () => {
    const workers = ['a', 'b'].map((id) => workerIn('READY', id, { idleSinceMs: 0 }))
    expect(decideScaling(inputs({ policy: COUNT_1, workers, queued: 1 })).stop).toEqual(['a'])
  })
})

describe('bounds, idle timeout, releases, failures', () => {
  test('min workers are kept up without any job', () => {
    expect(decideScaling(inputs({ min: 2 }))).toMatchObject({ start: 2, reason: 'workers.min is 2' })
  })

  test('max bounds everything, with what still finishes', () => {
    const overdue = waitedMs(9_000, 9_000, 9_000, 9_000)
    expect(decideScaling(inputs({ waitingSinceMs: overdue }))).toMatchObject({ desired: 3, start: 3 })
    const workers = [workerIn('DRAINING', 'd'), workerIn('READY', 'old', { version: 0 })]
    expect(decideScaling(inputs({ waitingSinceMs: overdue, workers, held: busy('d', 'old') }))).toMatchObject({ desired: 1, start: 1 })
  })

  test('failed workers do not count', () => {
    expect(decideScaling(inputs({ waitingSinceMs: waitedMs(0), workers: [workerIn('FAILED', 'f')] })).start).toBe(1)
  })

  test.each([
    [4_999, []],
    [5_000, ['a']],
    [5_001, ['a']],
  ])('[SCALE-5] an idle timeout of 5 s, idle for %i ms: stops %j', (idleMs, stop) => {
    const workers = [workerIn('READY', 'a', { idleSinceMs: NOW - idleMs })]
    const decision = decideScaling(inputs({ workers }))
    expect(decision.stop).toEqual(stop)
    expect(decision.nextAtMs).toBe(stop.length === 0 ? NOW + 1 : null)
  })

  test('[SCALE-5] never below min, the longest idle first, none while jobs wait', () => {
    const workers = [workerIn('READY', 'a', { idleSinceMs: 5_000 }), workerIn('READY', 'b', { idleSinceMs: 4_000 })]
    expect(decideScaling(inputs({ workers })).stop).toEqual(['b', 'a'])
    expect(decideScaling(inputs({ workers, min: 1 })).stop).toEqual(['b'])
    expect(decideScaling(inputs({ workers, min: 2 })).stop).toEqual([])
    expect(decideScaling(inputs({ workers, waitingSinceMs: waitedMs(0) })).stop).toEqual([])
  })

  test.each([
    [4_999, []],
    [5_000, ['p']],
  ])('[SCALE-12] a worker that waits for a host and is not needed stops when it is %i ms old: %j', (age, stop) => {
    const workers = [workerIn('PLACING', 'p', { createdAtMs: NOW - age, attempts: 2 })]
    expect(decideScaling(inputs({ workers })).stop).toEqual(stop)
  })

  test('a starting worker is left alone, whatever its age', () => {
    expect(decideScaling(inputs({ workers: [workerIn('STARTING', 's')], nowMs: 10_000_000 })).stop).toEqual([])
  })

  test('a lowered max stops idle workers at once and busy ones never', () => {
    const workers = ['a', 'b', 'c'].map((id) => workerIn('READY', id, { idleSinceMs: NOW }))
    expect(decideScaling(inputs({ workers, max: 1, held: busy('a') })).stop).toEqual(['b', 'c'])
    expect(decideScaling(inputs({ workers, max: 1, held: busy('a', 'b', 'c') })).stop).toEqual([])
  })

  test('[SCALE-6] idle workers of an old release stop at once, busy ones finish first', () => {
    const workers = [workerIn('READY', 'old', { idleSinceMs: 9_999 }), workerIn('READY', 'busy'), workerIn('STARTING', 'coming')]
    const decision = decideScaling(inputs({ workers, version: 2, min: 3, held: busy('busy') }))
    expect(decision).toMatchObject({ stop: ['old', 'coming'], start: 2, current: 0, desired: 2 })
  })

  test('[SCALE-6] a busy worker of an old release serves nothing new: a waiting job starts one of the new release at once', () => {
    for (const policy of [inputs({}).policy, COUNT_4]) {
      const workers = [workerIn('READY', 'old')]
      expect(decideScaling(inputs({ policy, workers, version: 2, held: busy('old'), waitingSinceMs: waitedMs(0) })).start).toBe(1)
    }
  })

  test.each([
    [10_001, 0, 10_001],
    [10_000, 1, null],
    [9_999, 1, null],
  ])('[WRK-42] starts held back until %i: %i now', (launchNotBeforeMs, start, nextAtMs) => {
    expect(decideScaling(inputs({ policy: COUNT_1, queued: 1, launchNotBeforeMs }))).toMatchObject({ start, nextAtMs, desired: 1 })
  })

  test('[WRK-42, SCALE-14] both back-offs double up to their bounds', () => {
    expect([1, 2, 3, 30].map(launchBackoffMs)).toEqual([1_000, 2_000, 4_000, 300_000])
    expect([1, 2, 3, 30].map(placementRetryMs)).toEqual([5_000, 10_000, 20_000, 60_000])
  })

  test('[SCALE-10] a long queue starts a few workers at a time, and none while one has found no room', () => {
    const placing = Array.from({ length: 4 }, (_, i) => workerIn('PLACING', `p${i}`))
    const load = { policy: COUNT_1, queued: 5_000, max: 1_000 }
    expect(decideScaling(inputs(load)).start).toBe(10)
    expect(decideScaling(inputs({ ...load, workers: placing })).start).toBe(6)
    expect(decideScaling(inputs({ ...load, workers: [...placing, workerIn('PLACING', 't', { attempts: 1 })] })).start).toBe(0)
  })
})

describe('the stored decisions', () => {
  const record = (change: Partial<ScalingInputs>) => recordDecision(decideScaling(inputs(change)), inputs(change))

  test('[SCALE-16] have all inputs, so that a person can redo them', () => {
    const workers = [workerIn('READY', 'a'), workerIn('PLACING', 'p', { attempts: 1 }), workerIn('STARTING', 's')]
    expect(record({ workers, held: busy('a'), waitingSinceMs: waitedMs(4_500), launchNotBeforeMs: NOW + 700 })).toEqual({
      atMs: NOW,
      desired: 3,
      current: 3,
      max: 3,
      started: 0,
      stopped: 0,
      reason: '1 job waiting for 4 s or longer, 2 workers free or starting',
      inputs: {
        scaler: 'QUEUE_DELAY',
        scalerValue: 4,
        queued: 1,
        running: 1,
        longestWaitMs: 4_500,
        workersBusy: 1,
        workersStarting: 1,
        workersThrottled: 1,
        workersMin: 0,
        workersMax: 3,
        release: 1,
        backoffMs: 700,
      },
    })
  })

  test('[SCALE-16] are those that start or stop a worker or change the wanted number, not all decisions', () => {
    const quiet = record({})
    const first = record({ waitingSinceMs: waitedMs(0) })
    const same = record({ waitingSinceMs: waitedMs(0), workers: [workerIn('STARTING', 's')] })
    expect([isNewDecision(quiet, null), isNewDecision(first, quiet), isNewDecision(same, first), isNewDecision(quiet, same)]).toEqual([
      false,
      true,
      false,
      true,
    ])
  })

  test('the reason names the rule', () => {
    const workers = [workerIn('READY', 'a')]
    const overdue = { workers, held: busy('a'), waitingSinceMs: waitedMs(5_000) }
    expect(record(overdue).reason).toBe('1 job waiting for 4 s or longer, 0 workers free or starting')
    expect(record({ ...overdue, max: 1 }).reason).toBe('workers.max is 1')
    expect(record({ ...overdue, waitingSinceMs: [], queued: 5, max: 1 }).reason).toBe('workers.max is 1')
    expect(record({ policy: COUNT_1, queued: 9, max: 0 }).reason).toBe('workers.max is 0')
    expect(record({ policy: COUNT_1, queued: 9 }).reason).toBe('9 queued or running jobs at 1 a worker')
    expect(record({ policy: COUNT_1, queued: 1, launchNotBeforeMs: NOW + 1 }).reason).toContain('starts are delayed because workers failed')
    expect(record({ workers: [workerIn('READY', 'a', { idleSinceMs: 0 })] }).reason).toBe('idle for 5 s')
  })
})

test('[HLT-2, HLT-3] an idle worker counts as idle and as ready; one that drains without a job is no part of anything', () => {
  const workers = [
    workerIn('READY', 'a'),
    workerIn('READY', 'b'),
    workerIn('PLACING', 'c', { attempts: 1 }),
    workerIn('FAILED', 'd'),
    workerIn('DRAINING', 'e'),
    workerIn('DRAINING', 'f'),
  ]
  const held = busy('b', 'f')
  expect(countWorkers(workers, held)).toEqual({ idle: 1, initializing: 0, ready: 1, running: 2, throttled: 1, unhealthy: 1 })
  expect(activeWorkers(workers, held).map(({ worker, status }) => `${worker.id} ${status}`)).toEqual([
    'a IDLE',
    'b RUNNING',
    'c THROTTLED',
    'd UNHEALTHY',
    'f RUNNING',
  ])
})
