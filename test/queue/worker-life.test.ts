import { describe, expect, test } from 'vitest'
import type { Worker, WorkerPhase } from '../../src/domain/worker/worker.ts'
import { nextWorker, type WorkerEvent } from '../../src/queue/worker-life.ts'
import { workerIn } from '../support/queue/workers.ts'

const NOW = 1_000_000
const EVENTS: { [K in WorkerEvent['kind']]: Extract<WorkerEvent, { kind: K }> } = {
  placed: { kind: 'placed', hostId: 'host', gpuTypeId: 'gpu', dataCenterId: 'DC' },
  'no capacity': { kind: 'no capacity', reason: 'full', retryAtMs: NOW + 5_000 },
  'retry placement': { kind: 'retry placement', atMs: NOW + 1 },
  progress: { kind: 'progress', reason: 'pulling the image' },
  running: { kind: 'running' },
  healthy: { kind: 'healthy' },
  unhealthy: { kind: 'unhealthy', reason: 'answered 500' },
  take: { kind: 'take' },
  ping: { kind: 'ping' },
  loaded: { kind: 'loaded', holdsJobs: false, isTrusted: false, lastEndMs: null },
  watched: { kind: 'watched', untilMs: 99 },
  unwatched: { kind: 'unwatched', seenAtMs: 98 },
  busy: { kind: 'busy' },
  idle: { kind: 'idle', polls: false },
  'host silent': { kind: 'host silent', untilMs: NOW + 35_000 },
  'host returned': { kind: 'host returned', untilMs: NOW + 40_000 },
  drain: { kind: 'drain', reason: 'not needed' },
  fail: { kind: 'fail', reason: 'crashed' },
  kill: { kind: 'kill', reason: 'did not stop' },
  'removal requested': { kind: 'removal requested' },
  released: { kind: 'released' },
  hide: { kind: 'hide' },
}

/** The next phase by phase and event; an event that is not listed changes nothing. `gone`: the row is deleted. */
const NEXT: Record<WorkerPhase, Partial<Record<WorkerEvent['kind'], WorkerPhase | 'gone'>>> = {
  PLACING: {
    placed: 'STARTING',
    'no capacity': 'PLACING',
    'retry placement': 'PLACING',
    running: 'PLACING',
    drain: 'DRAINING',
    fail: 'FAILED',
    kill: 'FAILED',
  },
  STARTING: {
    progress: 'STARTING',
    running: 'STARTING',
    take: 'READY',
    healthy: 'READY',
    unhealthy: 'STARTING',
    drain: 'DRAINING',
    fail: 'FAILED',
    kill: 'FAILED',
  },
  READY: {
    unhealthy: 'STARTING',
    take: 'READY',
    ping: 'READY',
    loaded: 'READY',
    watched: 'READY',
    unwatched: 'READY',
    busy: 'READY',
    idle: 'READY',
    'host silent': 'READY',
    'host returned': 'READY',
    drain: 'DRAINING',
    fail: 'FAILED',
    kill: 'FAILED',
  },
  DRAINING: {
    ping: 'DRAINING',
    loaded: 'DRAINING',
    watched: 'DRAINING',
    unwatched: 'DRAINING',
    'host silent': 'DRAINING',
    'host returned': 'DRAINING',
    fail: 'FAILED',
    kill: 'FAILED',
    'removal requested': 'DRAINING',
    released: 'gone',
  },
  FAILED: { 'removal requested': 'FAILED', released: 'FAILED', hide: 'DRAINING' },
}
const PHASES = Object.keys(NEXT) as WorkerPhase[]
const KINDS = Object.keys(EVENTS) as WorkerEvent['kind'][]

describe('the life of a worker', () => {
  test.each(PHASES.flatMap((phase) => KINDS.map((kind) => ({ phase, kind, next: NEXT[phase][kind] }))))(
    '$phase by $kind: $next',
    ({ phase, kind, next }) => {
      const worker = someWorker(phase)
      const after = nextWorker(worker, EVENTS[kind], NOW)
      if (next === undefined) expect(after).toBe(worker)
      else expect(after === null ? 'gone' : after.phase).toBe(next)
      if (after) expect([after.id, after.boot, after.version, after.createdAtMs]).toEqual(['w', 'b', 1, 5])
    },
  )

  test('a placed worker has its host, and the state of its search is cleared', () => {
    expect(nextWorker(workerIn('PLACING', 'w', { attempts: 3, reason: 'full', startedAtMs: null }), EVENTS.placed, NOW)).toEqual(
      workerIn('STARTING', 'w', { hostId: 'host', gpuTypeId: 'gpu', dataCenterId: 'DC', startedAtMs: null, reason: 'starting' }),
    )
  })

  test('a worker without room counts its attempts', () => {
    const searched = nextWorker(workerIn('PLACING', 'w', { attempts: 3 }), EVENTS['no capacity'], NOW)
    expect(searched).toEqual(workerIn('PLACING', 'w', { attempts: 4, reason: 'full', nextAttemptAtMs: NOW + 5_000 }))
    expect(searched && nextWorker(searched, EVENTS['retry placement'], NOW + 1)).toMatchObject({ nextAttemptAtMs: NOW + 1, attempts: 4 })
  })

  test('its first take makes it ready, idle and seen; the start time of its container stays as its host reported it', () => {
    const times = { lastSeenAtMs: NOW, lastTakeAtMs: NOW, idleSinceMs: NOW, reason: null }
    expect(nextWorker(workerIn('STARTING', 'w', { startedAtMs: 7 }), EVENTS.take, NOW)).toEqual(
      workerIn('READY', 'w', { ...times, startedAtMs: 7 }),
    )
    expect(nextWorker(workerIn('STARTING', 'w', { startedAtMs: null }), EVENTS.take, NOW)).toMatchObject({ startedAtMs: NOW })
  })

  test('[LSE-7] a take is no ping, and a ping no take', () => {
    const ready = workerIn('READY', 'w', { lastSeenAtMs: 1, lastTakeAtMs: 2 })
    expect(nextWorker(ready, EVENTS.take, NOW)).toEqual({ ...ready, lastTakeAtMs: NOW })
    expect(nextWorker(ready, EVENTS.ping, NOW)).toEqual({ ...ready, lastSeenAtMs: NOW })
  })

  test('[LSE-24] a load of the queue is recorded until the next ping, and only for a worker that pings', () => {
    const ready = workerIn('READY', 'w', { lastSeenAtMs: 1 })
    const loaded = nextWorker(ready, EVENTS.loaded, NOW)
    expect(loaded).toEqual({ ...ready, loadedAtMs: NOW, idleSinceMs: NOW })
    expect(nextWorker(ready, { ...EVENTS.loaded, holdsJobs: true }, NOW)).toEqual({ ...ready, loadedAtMs: NOW })
    expect(nextWorker({ ...ready, idleSinceMs: 7 }, EVENTS.loaded, NOW)).toMatchObject({ loadedAtMs: NOW, idleSinceMs: 7 })
    expect(loaded && nextWorker(loaded, EVENTS.loaded, NOW + 1)).toBe(loaded)
    expect(loaded && nextWorker(loaded, EVENTS.ping, NOW + 2)).toEqual({ ...ready, lastSeenAtMs: NOW + 2, idleSinceMs: NOW })
    expect(loaded && nextWorker(loaded, EVENTS.drain, NOW)).toMatchObject({ phase: 'DRAINING', loadedAtMs: NOW })
    const serves = workerIn('READY', 'w', { lastSeenAtMs: null })
    expect(nextWorker(serves, EVENTS.loaded, NOW)).toBe(serves)
  })

  test('[LSE-31] a worker that got a job counts as having worked, whatever the outcome', () => {
    const busy = nextWorker(workerIn('READY', 'w', { idleSinceMs: 5 }), EVENTS.busy, NOW)
    expect(busy).toEqual(workerIn('READY', 'w', { idleSinceMs: null, worked: true }))
    expect(busy && nextWorker(busy, EVENTS.fail, NOW)).toMatchObject({ phase: 'FAILED', worked: true })
  })

  test('[HOST-36] an excuse is never shortened, and outlives a drain', () => {
    const excused = workerIn('READY', 'w', { excusedUntilMs: NOW + 90_000, lastSeenAtMs: 3 })
    expect(nextWorker(excused, EVENTS['host silent'], NOW)).toEqual(excused)
    expect(nextWorker(excused, EVENTS['host returned'], NOW)).toEqual({ ...excused, excusedUntilMs: NOW + 40_000 })
    const heard = workerIn('READY', 'w', { excusedUntilMs: null })
    expect(nextWorker(heard, EVENTS['host returned'], NOW)).toBe(heard)
    expect(nextWorker(excused, EVENTS.drain, NOW)).toMatchObject({ excusedUntilMs: NOW + 90_000, lastSeenAtMs: 3 })
  })

  test('[WRK-43] a failure is shown for ten minutes, a kill not at all', () => {
    expect(nextWorker(workerIn('READY', 'w'), EVENTS.fail, NOW)).toEqual(
      workerIn('FAILED', 'w', { reason: 'crashed', nextAttemptAtMs: NOW, forgetAtMs: NOW + 600_000 }),
    )
    expect(nextWorker(workerIn('READY', 'w'), EVENTS.kill, NOW)).toMatchObject({ forgetAtMs: NOW, released: false })
  })

  test('a host is asked to remove a worker ever more rarely', () => {
    const draining = workerIn('DRAINING', 'w')
    const again = nextWorker(draining, EVENTS['removal requested'], NOW)
    expect(again).toEqual({ ...draining, attempts: 1, nextAttemptAtMs: NOW + 30_000 })
    expect(again && nextWorker(again, EVENTS['removal requested'], NOW)).toMatchObject({ attempts: 2, nextAttemptAtMs: NOW + 60_000 })
  })

  test('a failed worker that is gone from its host is removed after it was shown; another stays hidden and repeats the request', () => {
    const failed = workerIn('FAILED', 'w', { reason: 'crashed', attempts: 4, nextAttemptAtMs: 99 })
    expect(nextWorker({ ...failed, released: true }, EVENTS.hide, NOW)).toBeNull()
    expect(nextWorker(failed, EVENTS.hide, NOW)).toEqual(
      workerIn('DRAINING', 'w', { reason: 'crashed', attempts: 4, nextAttemptAtMs: 99, lastSeenAtMs: null }),
    )
  })
})

function someWorker(phase: WorkerPhase): Worker {
  return workerIn(phase, 'w', { createdAtMs: 5 })
}
