import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WaitReason } from '../../../src/contract/jobs/explain.ts'
import { explainJob, findTrouble, type JobFacts, workerReason } from '../../../src/domain/job/explain.ts'
import type { WorkerCounts } from '../../../src/domain/worker/worker.ts'
import { workerIn } from '../../support/queue/workers.ts'

const counts = (change: Partial<WorkerCounts> = {}): WorkerCounts => ({
  idle: 0,
  initializing: 0,
  ready: change.idle ?? 0,
  running: 0,
  throttled: 0,
  unhealthy: 0,
  ...change,
})
const facts = (change: Partial<JobFacts> = {}): JobFacts => ({
  state: 'IN_QUEUE',
  lowPriority: false,
  ahead: { normal: 0, low: 0 },
  workers: counts(),
  trouble: null,
  max: 3,
  ...change,
})
const noRoom = { kind: 'capacity', text: 'no capacity: no host is online' } as const
const crash = { kind: 'failure', text: 'exited with code 1' } as const
const behind = { normal: 2, low: 0 }
const one = (status: keyof WorkerCounts) => counts({ [status]: 1 })

describe('[HLT-6, WHY-20] the explanation of a job', () => {
  test.each<[string, WaitReason, Partial<JobFacts>]>([
    ['a worker holds it', 'RUNNING', { state: 'IN_PROGRESS' }],
    ['it completed', 'FINISHED', { state: 'COMPLETED' }],
    ['it failed', 'FINISHED', { state: 'FAILED' }],
    ['it was cancelled', 'FINISHED', { state: 'CANCELLED' }],
    ['it timed out', 'FINISHED', { state: 'TIMED_OUT' }],
    ['max is 0', 'SCALED_TO_ZERO_BY_CONFIG', { max: 0 }],
    ['max is 0, whatever else is wrong', 'SCALED_TO_ZERO_BY_CONFIG', { max: 0, trouble: crash, lowPriority: true }],
    ['it is first and a worker is idle', 'NEXT', { workers: one('idle') }],
    ['it is first and a worker is idle, though another failed', 'NEXT', { workers: one('idle'), trouble: crash }],
    ['a worker is on its way', 'WORKER_STARTING', { workers: one('initializing') }],
    ['nothing has happened yet', 'WORKER_STARTING', {}],
    ['others wait for the starting worker too', 'WORKER_STARTING', { workers: one('initializing'), ahead: behind }],
    ['no host has room', 'NO_CAPACITY', { workers: one('throttled'), trouble: noRoom }],
    ['no host has room for one more', 'NO_CAPACITY', { workers: counts({ throttled: 1, running: 1 }), trouble: noRoom }],
    ['workers crash', 'WORKERS_UNHEALTHY', { workers: one('unhealthy'), trouble: crash }],
    ['workers crash and the next one starts', 'WORKERS_UNHEALTHY', { workers: counts({ unhealthy: 1, initializing: 1 }), trouble: crash }],
    ['it is first and all are busy', 'WORKERS_BUSY', { workers: one('running') }],
    ['others are before it', 'BEHIND_OTHERS', { workers: one('running'), ahead: behind }],
    ['others are before it and one is idle', 'BEHIND_OTHERS', { workers: one('idle'), ahead: behind }],
    ['low priority, and no worker', 'LOW_PRIORITY', { lowPriority: true }],
    ['low priority, and the last worker failed', 'LOW_PRIORITY', { lowPriority: true, trouble: crash, workers: one('unhealthy') }],
    ['low priority, and others wait', 'LOW_PRIORITY', { lowPriority: true, ahead: behind, workers: one('running') }],
    [
      'low priority, others wait, and no host has room',
      'NO_CAPACITY',
      { lowPriority: true, ahead: behind, trouble: noRoom, workers: one('throttled') },
    ],
    ['low priority behind its like', 'BEHIND_OTHERS', { lowPriority: true, ahead: { normal: 0, low: 1 }, workers: one('running') }],
    ['low priority and first', 'WORKERS_BUSY', { lowPriority: true, workers: one('running') }],
    ['low priority, first, and a worker is idle', 'NEXT', { lowPriority: true, workers: one('idle') }],
    ['low priority, and a worker comes for min', 'WORKER_STARTING', { lowPriority: true, workers: one('initializing') }],
  ])('%s: %s', (_case, reason, change) => {
    expect(explainJob(facts(change)).reason).toBe(reason)
  })

  test('details name the next step', () => {
    const detail = (change: Partial<JobFacts>) => explainJob(facts(change)).detail
    expect(detail({ max: 0 })).toContain('Set it to 1 or more')
    expect(detail({ trouble: noRoom })).toMatch(/no host is online\. Add a host/)
    expect(detail({ trouble: crash })).toContain('exited with code 1')
    expect(detail({ lowPriority: true })).toContain('workers.min above 0')
    expect(detail({ workers: one('running'), ahead: { normal: 1, low: 0 } })).toContain('1 job is taken before this one')
    expect(detail({ workers: one('running') })).toContain('workers.max is 3')
  })

  test('[STA-2, STA-10] the cause in a status record is the trouble itself, or nothing when nothing is the matter', () => {
    const cause = (change: Partial<JobFacts>) => explainJob(facts(change)).cause
    expect(cause({ trouble: noRoom })).toBe(noRoom.text)
    expect(cause({ trouble: crash })).toBe(crash.text)
    expect(cause({ max: 0 })).toBe('workers.max is 0, so no worker may start')
    expect(cause({ workers: one('initializing') })).toBe('a worker is starting')
    expect(cause({ workers: one('running') })).toBe('all workers are busy')
    expect(cause({ workers: one('idle') })).toBeNull()
    expect(cause({ workers: one('idle'), ahead: behind })).toBeNull()
  })

  test('every combination of facts has a reason and a sentence', () => {
    const count = fc.integer({ min: 0, max: 3 })
    const any = fc.record({
      state: fc.constantFrom<JobFacts['state']>('IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'),
      lowPriority: fc.boolean(),
      ahead: fc.record({ normal: count, low: count }),
      workers: fc.record({ idle: count, initializing: count, ready: count, running: count, throttled: count, unhealthy: count }),
      trouble: fc.constantFrom(null, noRoom, crash),
      max: count,
    })
    fc.assert(
      fc.property(any, (one) => {
        const { reason, detail } = explainJob(one)
        expect(WaitReason.options).toContain(reason)
        expect(detail).toMatch(/^[A-Zw0-9].*\.$/)
        expect(reason === 'RUNNING' || reason === 'FINISHED').toBe(one.state !== 'IN_QUEUE')
      }),
    )
  })
})

test('a worker has its activity, or its trouble', () => {
  expect(workerReason({ worker: workerIn('READY', 'r'), status: 'IDLE' })).toBe('asks for work')
  expect(workerReason({ worker: workerIn('FAILED', 'f', { reason: 'exited with code 1' }), status: 'UNHEALTHY' })).toBe(
    'exited with code 1',
  )
})

test('the newest trouble counts, and a worker without a reason is none', () => {
  const failed = workerIn('FAILED', 'f', { reason: 'exited with code 1' })
  const throttled = workerIn('PLACING', 't', { attempts: 1, reason: 'no capacity' })
  expect(findTrouble([failed, throttled])).toEqual({ kind: 'capacity', text: 'no capacity' })
  expect(findTrouble([throttled, failed])).toEqual({ kind: 'failure', text: 'exited with code 1' })
  expect(findTrouble([workerIn('READY', 'r'), workerIn('PLACING', 'p'), workerIn('FAILED', 'n')])).toBeNull()
})
