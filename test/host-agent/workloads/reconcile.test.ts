import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type ActualWorkload, ORPHAN_MS, planActions } from '../../../src/host-agent/workloads/reconcile.ts'
import { newRecord, type WorkloadRecord } from '../../../src/host-agent/workloads/records.ts'
import { makeWorkload } from '../support/workload.ts'

const NOW = 1_000_000
const running = makeWorkload({ id: 'a' })
const stopped = makeWorkload({ id: 'a', desired: 'stopped', stopGraceMs: 1_234 })

function actual(phase?: ActualWorkload['phase']): ReadonlyMap<string, ActualWorkload> {
  return new Map(phase === undefined ? [] : [['a', { phase, runtime: 'process' }]])
}
function records(change?: Partial<WorkloadRecord>): ReadonlyMap<string, WorkloadRecord> {
  return new Map(change === undefined ? [] : [['a', { ...newRecord('a', 'pod'), ...change }]])
}

describe('planActions: a workload that should run', () => {
  test('is started when it never was started, or when only its image was being pulled', ({ expect }) => {
    expect(planActions([running], actual(), records(), NOW)).toEqual([{ type: 'start', workload: running, diskOf: null }])
    expect(planActions([running], actual(), records({ state: 'pulling' }), NOW)).toEqual([
      { type: 'start', workload: running, diskOf: null },
    ])
  })

  test.for(['exited', 'error', 'gone'] as const)('is never started again once %s', (state, { expect }) => {
    expect(planActions([running], actual(), records({ state }), NOW)).toEqual([])
  })

  test('is an error when the agent was interrupted between intent and start', ({ expect }) => {
    expect(planActions([running], actual(), records({ state: 'starting' }), NOW)).toMatchObject([{ type: 'reportError', id: 'a' }])
  })

  test('is reported when it disappeared', ({ expect }) => {
    expect(planActions([running], actual(), records({ state: 'running' }), NOW)).toMatchObject([
      { type: 'reportExited', id: 'a', reason: /^disappeared/ },
    ])
  })

  test.for(['starting', 'running', 'stopping', 'unknown'] as const)('is left alone while %s', (phase, { expect }) => {
    expect(planActions([running], actual(phase), records({ state: 'running' }), NOW)).toEqual([])
  })
})

describe('planActions: a workload that should be stopped', () => {
  test('is stopped with its grace', ({ expect }) => {
    expect(planActions([stopped], actual('running'), records({ state: 'running' }), NOW)).toEqual([
      { type: 'stop', id: 'a', graceMs: 1_234 },
    ])
  })

  test('is stopped sooner when the plane shortens the grace, and not again otherwise', ({ expect }) => {
    const stopping = (killAt: number) => new Map([['a', { phase: 'stopping' as const, runtime: 'process' as const, killAt }]])
    expect(planActions([stopped], stopping(NOW + 1_234), records({ state: 'running' }), NOW)).toEqual([])
    expect(planActions([stopped], stopping(NOW + 1_235), records({ state: 'running' }), NOW)).toEqual([
      { type: 'stop', id: 'a', graceMs: 1_234 },
    ])
  })

  test('has its start cancelled', ({ expect }) => {
    expect(planActions([stopped], actual('starting'), records({ state: 'pulling' }), NOW)).toEqual([{ type: 'cancelStart', id: 'a' }])
  })

  test('is reported gone at once when nothing exists, known or not', ({ expect }) => {
    expect(planActions([stopped], actual(), records(), NOW)).toEqual([{ type: 'reportGone', id: 'a' }])
    expect(planActions([stopped], actual(), records({ state: 'exited' }), NOW)).toEqual([{ type: 'reportGone', id: 'a' }])
    expect(planActions([stopped], actual(), records({ state: 'gone' }), NOW)).toEqual([])
  })
})

describe('planActions: a workload that the plane does not list', () => {
  test('is noted first, kept one millisecond before the limit and removed at it', ({ expect }) => {
    const at = (absentSince: number | null) => planActions([], actual('running'), records({ state: 'running', absentSince }), NOW)
    expect(at(null)).toEqual([{ type: 'noteAbsent', id: 'a' }])
    expect(at(NOW - ORPHAN_MS + 1)).toEqual([])
    expect(at(NOW - ORPHAN_MS)).toEqual([{ type: 'stop', id: 'a', graceMs: 0 }])
  })

  test('is forgotten when it is gone, and welcomed back when it is listed again', ({ expect }) => {
    expect(planActions([], actual(), records({ state: 'gone' }), NOW)).toEqual([])
    expect(planActions([running], actual('running'), records({ state: 'running', absentSince: 5 }), NOW)).toEqual([
      { type: 'notePresent', id: 'a' },
    ])
  })
})

describe('planActions: a workload that should be held', () => {
  const held = makeWorkload({ id: 'a', desired: 'held', stopGraceMs: 1_234 })

  test('[HOST-50] is stopped with its grace, and kept once it has ended', ({ expect }) => {
    const plan = (phase: ActualWorkload['phase'], state: WorkloadRecord['state']) =>
      planActions([held], actual(phase), records({ state }), NOW)
    expect(plan('running', 'running')).toEqual([{ type: 'stop', id: 'a', graceMs: 1_234 }])
    expect(plan('starting', 'pulling')).toEqual([{ type: 'cancelStart', id: 'a' }])
    expect(plan('held', 'exited')).toEqual([])
  })

  test('[HOST-50] is reported once when there is nothing to hold', ({ expect }) => {
    const plan = (state?: WorkloadRecord['state']) => planActions([held], actual(), records(state && { state }), NOW)
    expect(plan()).toEqual([{ type: 'reportExited', id: 'a', reason: 'stopped before it was started' }])
    expect(plan('pulling')).toEqual([{ type: 'reportExited', id: 'a', reason: 'stopped before it was started' }])
    expect(plan('starting')).toMatchObject([{ type: 'reportExited', id: 'a' }])
    expect(plan('running')).toMatchObject([{ type: 'reportExited', id: 'a' }])
    for (const state of ['exited', 'error', 'gone'] as const) expect(plan(state)).toEqual([])
  })
})

describe('planActions: a workload that replaces others', () => {
  const next = makeWorkload({ id: 'p-3', replaces: ['p-2', 'p-1'], keepDisk: true })
  const previous = (id: string, desired: 'held' | 'stopped') => makeWorkload({ id, desired })
  const there = (phases: Record<string, ActualWorkload['phase']>) =>
    new Map(Object.entries(phases).map(([id, phase]) => [id, { phase, runtime: 'docker' as const }]))
  const known = (states: Record<string, WorkloadRecord['state']>) =>
    new Map(Object.entries(states).map(([id, state]) => [id, { ...newRecord(id, 'pod'), state }]))

  test('[HOST-51] waits until all of them are down, whatever it does with their disk', ({ expect }) => {
    const queries = [previous('p-1', 'held'), previous('p-2', 'held'), next]
    for (const phase of ['starting', 'running', 'stopping', 'removing', 'unknown'] as const) {
      const plan = planActions(queries, there({ 'p-2': phase }), known({ 'p-1': 'exited', 'p-2': 'running' }), NOW)
      expect(plan.filter((action) => action.type === 'start')).toEqual([])
    }
  })

  test('[HOST-51] on an empty disk it waits until they are removed', ({ expect }) => {
    const fresh = { ...next, keepDisk: false }
    const states = known({ 'p-1': 'gone', 'p-2': 'exited' })
    const queries = [previous('p-1', 'stopped'), previous('p-2', 'stopped'), fresh]
    expect(planActions(queries, there({ 'p-2': 'held' }), states, NOW)).toEqual([{ type: 'remove', id: 'p-2', wipe: [] }])
    expect(planActions(queries, there({}), states, NOW)).toEqual([
      { type: 'reportGone', id: 'p-2' },
      { type: 'start', workload: fresh, diskOf: null },
    ])
  })

  test('[HOST-52] continues with the disk of the newest that has a container', ({ expect }) => {
    const queries = [previous('p-2', 'held'), previous('p-1', 'held'), next]
    const source = (phases: Parameters<typeof there>[0]) =>
      planActions(queries, there(phases), known({ 'p-1': 'exited', 'p-2': 'error' }), NOW).find((action) => action.type === 'start')?.diskOf
    expect(source({ 'p-1': 'held', 'p-2': 'held' })).toBe('p-2')
    expect(source({ 'p-1': 'held' })).toBe('p-1')
    expect(source({})).toBe(null)
  })

  test('[HOST-52] once it runs they are removed and gone, with or without a container, and not before', ({ expect }) => {
    const queries = [previous('p-2', 'held'), previous('p-1', 'held'), next]
    const states = known({ 'p-1': 'error', 'p-2': 'exited', 'p-3': 'running' })
    expect(planActions(queries, there({ 'p-2': 'held', 'p-3': 'starting' }), states, NOW)).toEqual([])
    for (const phase of ['running', 'stopping', 'held'] as const) {
      expect(planActions(queries, there({ 'p-2': 'held', 'p-3': phase }), states, NOW)).toEqual([
        { type: 'remove', id: 'p-2', wipe: [] },
        { type: 'reportGone', id: 'p-1' },
      ])
    }
  })

  test('[HOST-52] a successor that could not be started leaves them as they are', ({ expect }) => {
    const queries = [previous('p-2', 'held'), { ...next, desired: 'held' as const }]
    for (const state of ['error', 'exited'] as const) {
      expect(planActions(queries, there({ 'p-2': 'held' }), known({ 'p-2': 'exited', 'p-3': state }), NOW)).toEqual([])
    }
  })
})

describe('planActions: the remains of a stopped workload', () => {
  const mounts = [
    { kind: 'persistent' as const, id: 'p', path: '/workspace', sizeGb: 1 },
    { kind: 'network' as const, id: 'v', path: '/net' },
  ]
  const wiped = (id: string) => makeWorkload({ id, desired: 'stopped', wipe: true, mounts })
  const plan = (
    queries: Parameters<typeof planActions>[0],
    phases: [string, ActualWorkload['phase']][],
    change: Partial<WorkloadRecord>,
  ) => {
    const states = new Map(queries.map(({ id }) => [id, { ...newRecord(id, 'pod'), ...change }]))
    return planActions(queries, new Map(phases.map(([id, phase]) => [id, { phase, runtime: 'docker' }])), states, NOW)
  }

  test('[HOST-53] with wipe the persistent volume is removed, once, and no other kind', ({ expect }) => {
    expect(plan([wiped('p-1')], [['p-1', 'held']], { state: 'exited' })).toEqual([{ type: 'remove', id: 'p-1', wipe: ['p'] }])
    expect(plan([wiped('p-1')], [], { state: 'error' })).toEqual([{ type: 'remove', id: 'p-1', wipe: ['p'] }])
    expect(plan([wiped('p-1')], [], { state: 'gone' })).toEqual([{ type: 'remove', id: 'p-1', wipe: ['p'] }])
    expect(plan([wiped('p-1')], [], { state: 'gone', wiped: true })).toEqual([])
  })

  test('[HOST-53] a volume is not wiped under a container that still runs', ({ expect }) => {
    const both = [wiped('p-1'), wiped('p-2')]
    expect(
      plan(
        both,
        [
          ['p-1', 'held'],
          ['p-2', 'running'],
        ],
        { state: 'exited' },
      ),
    ).toEqual([
      { type: 'remove', id: 'p-1', wipe: [] },
      { type: 'stop', id: 'p-2', graceMs: 2_000 },
    ])
  })

  test('without wipe only the container is removed', ({ expect }) => {
    expect(plan([{ ...wiped('p-1'), wipe: false }], [['p-1', 'held']], { state: 'exited' })).toEqual([
      { type: 'remove', id: 'p-1', wipe: [] },
    ])
  })
})

test('planActions: whatever happened, an id with a record beyond pulling is never started', ({ expect }) => {
  const states = ['starting', 'running', 'exited', 'error', 'gone'] as const
  const phases = [undefined, 'starting', 'running', 'stopping', 'held', 'removing', 'unknown'] as const
  fc.assert(
    fc.property(
      fc.constantFrom(...states),
      fc.constantFrom(...phases),
      fc.constantFrom(running, stopped, makeWorkload({ id: 'a', desired: 'held' })),
      fc.option(fc.nat(2 * NOW)),
      (state, phase, workload, absentSince) => {
        const plan = planActions([workload], actual(phase), records({ state, absentSince }), NOW)
        expect(plan.some((action) => action.type === 'start')).toBe(false)
      },
    ),
  )
})
