import { describe, expect, test } from 'vitest'
import {
  asLeaving,
  type CapacityOffer,
  type CapacitySeeker,
  countWilling,
  nextWillingInMs,
  offerCapacity,
  rememberSeeker,
  seekersToNotify,
} from '../../../src/domain/preemption/offers.ts'
import type { ScalingInputs } from '../../../src/domain/worker/scaling.ts'
import type { Worker } from '../../../src/domain/worker/worker.ts'
import { workerIn } from '../../support/queue/workers.ts'

const NOW_MS = 100_000
const idle = (id: string, forMs: number, change = {}) => workerIn('READY', id, { idleSinceMs: NOW_MS - forMs, ...change })
const busy = (id: string) => workerIn('READY', id)

function inputsOf(workers: readonly Worker[], change: Partial<ScalingInputs> = {}): ScalingInputs {
  return {
    policy: { type: 'QUEUE_DELAY', queueDelay: 4 },
    queued: 0,
    waitingSinceMs: [],
    workers,
    held: new Map(workers.flatMap(({ id }) => (id.startsWith('busy') ? [[id, 1] as const] : []))),
    heldNormal: new Map(),
    min: 0,
    max: 5,
    idleTimeoutMs: 60_000,
    version: 1,
    launchNotBeforeMs: 0,
    nowMs: NOW_MS,
    ...change,
  }
}

const offer = (workers: readonly Worker[], change: Partial<ScalingInputs> = {}, low = 0, own = true) =>
  offerCapacity(inputsOf(workers, change), low, own)

describe('[PREEMPT-1, PREEMPT-2] the workers of an endpoint that may be preempted', () => {
  test.each<[string, number, readonly Worker[], Partial<ScalingInputs>, number]>([
    ['an idle one', 1, [idle('a', 1_000)], {}, 0],
    ['not one that was idle for less than a second', 0, [idle('a', 999)], {}, 0],
    ['not one with a job', 0, [busy('busy')], {}, 0],
    ['not one that lets a stopped job go', 0, [idle('a', 5_000)], { held: new Map([['a', 1]]) }, 0],
    ['not one that starts', 0, [workerIn('STARTING', 'a')], {}, 0],
    ['not one that looks for a host', 0, [workerIn('PLACING', 'a')], {}, 0],
    ['not the last of min', 0, [idle('a', 5_000)], { min: 1 }, 0],
    ['the one above min', 1, [idle('a', 5_000), busy('busy')], { min: 1 }, 0],
    ['not two of two when one is min', 1, [idle('a', 5_000), idle('b', 5_000)], { min: 1 }, 0],
    ['not for one that has no host yet', 0, [idle('a', 5_000), workerIn('PLACING', 'b', { attempts: 1 })], { min: 1 }, 0],
    ['not for one of an older release', 0, [idle('a', 5_000), idle('b', 5_000, { version: 0 })], { min: 1 }, 0],
    ['not beside a job of its own that waits', 0, [idle('a', 5_000)], { queued: 1 }, 0],
    ['not beside a low priority job that waits', 0, [idle('a', 5_000)], {}, 1],
    [
      'not one that its scaler would start again at once',
      0,
      [idle('a', 5_000), busy('busy')],
      { policy: { type: 'REQUEST_COUNT', requestCount: 1 }, held: new Map([['busy', 2]]), heldNormal: new Map([['busy', 2]]) },
      0,
    ],
  ])('%s: %i', (_case, willing, workers, change, low) => {
    expect(countWilling(offer(workers, change, low))).toBe(willing)
  })

  test('counts the workers by activity', () => {
    const workers = [
      idle('a', 7),
      busy('busy'),
      workerIn('STARTING', 's'),
      workerIn('PLACING', 'p'),
      workerIn('DRAINING', 'd'),
      workerIn('DRAINING', 'stuck', { attempts: 3 }),
      workerIn('DRAINING', 'busy draining'),
      idle('old', 9, { version: 0 }),
      workerIn('FAILED', 'f'),
      workerIn('FAILED', 'gone', { released: true }),
    ]
    const holder = (workerId: string, use: string, idleMs = 0) => ({ workerId, use, idleMs })
    expect(offer(workers)).toEqual({
      holders: [
        holder('a', 'idle', 7),
        holder('busy', 'working'),
        holder('s', 'starting'),
        holder('d', 'leaving'),
        holder('stuck', 'stuck'),
        holder('busy draining', 'working'),
        holder('old', 'leaving'),
        holder('f', 'leaving'),
      ],
      spare: 1,
      keptFor: 'workers.min',
      pauseMs: 1_000,
    })
  })

  test('gives the reason that keeps the others', () => {
    expect(offer([idle('a', 9)], { min: 1 }).keptFor).toBe('workers.min')
    expect(offer([idle('a', 9)], { min: 1, queued: 1 }).keptFor).toBe('its own jobs')
  })

  test('a worker that has agreed to leave is leaving', () => {
    const before = offer([idle('a', 5_000), idle('b', 5_000)])
    const after = asLeaving(new Map([['e', before]]), new Set(['a'])).get('e') as CapacityOffer
    expect([after.spare, after.holders.map(({ use }) => use)]).toEqual([1, ['leaving', 'idle']])
  })
})

test('[PREEMPT-4] towards other accounts the pause is 10 s', () => {
  expect(countWilling(offer([idle('a', 9_999)], {}, 0, false))).toBe(0)
  expect(countWilling(offer([idle('a', 10_000)], {}, 0, false))).toBe(1)
})

describe('[PREEMPT-3] the time of the next check', () => {
  test.each<[string, number | null, readonly Worker[], Partial<ScalingInputs>]>([
    ['at the end of the pause', 400, [idle('a', 600)], {}],
    ['of the first of several', 100, [idle('a', 600), idle('b', 900)], {}],
    ['not when one that may go already is all', null, [idle('a', 600), idle('b', 5_000)], { min: 1 }],
    ['not for one that is kept', null, [idle('a', 600)], { min: 1 }],
    ['not for one at work', null, [busy('busy')], {}],
  ])('%s: %s', (_case, inMs, workers, change) => {
    expect(nextWillingInMs(offer(workers, change))).toBe(inMs)
  })
})

describe('[PREEMPT-3] a searcher of room is notified', () => {
  const seeker = (endpointId: string, change: Partial<CapacitySeeker> = {}): CapacitySeeker => ({
    ...{ endpointId, own: true, untilMs: 200, seen: 0 },
    ...change,
  })

  test('once more workers may leave than it saw', () => {
    const seekers = [seeker('a'), seeker('b', { seen: 1 }), seeker('c', { own: false })]
    expect(seekersToNotify(seekers, (own) => (own ? 1 : 0), 100)).toEqual({ notified: ['a'], left: [seekers[1], seekers[2]] })
  })

  test('again after fewer could leave meanwhile', () => {
    const { left } = seekersToNotify([seeker('b', { seen: 1 })], () => 0, 100)
    expect(left).toEqual([seeker('b', { seen: 0 })])
    expect(seekersToNotify(left, () => 1, 100).notified).toEqual(['b'])
  })

  test('not after two minutes', () => {
    const seekers = rememberSeeker([], { endpointId: 'a', own: true }, 0, 0)
    expect(seekersToNotify(seekers, () => 1, 119_999).notified).toEqual(['a'])
    expect(seekersToNotify(seekers, () => 1, 120_000)).toEqual({ notified: [], left: [] })
  })

  test('once even if it asks again, with its latest view', () => {
    expect(rememberSeeker([seeker('a')], { endpointId: 'a', own: true }, 2, 50)).toEqual([seeker('a', { untilMs: 120_050, seen: 2 })])
  })

  test('although other accounts fill the list', () => {
    let seekers: CapacitySeeker[] = []
    for (let i = 0; i < 40; i++) seekers = rememberSeeker(seekers, { endpointId: `x${i}`, own: false }, 0, 0)
    expect(seekers).toHaveLength(16)
    seekers = rememberSeeker(seekers, { endpointId: 'a', own: true }, 0, 0)
    expect(seekers.map(({ endpointId }) => endpointId)).toContain('a')
  })
})
