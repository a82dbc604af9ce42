import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type ActualWorkload, ORPHAN_MS, planActions } from '../../src/host-agent/reconcile.ts'
import { newRecord, type WorkloadRecord } from '../../src/host-agent/workload-records.ts'
import { makeWorkload } from './support/workload.ts'

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
  test('is started when it never was, or when only its image was being pulled', ({ expect }) => {
    expect(planActions([running], actual(), records(), NOW)).toEqual([{ type: 'start', workload: running }])
    expect(planActions([running], actual(), records({ state: 'pulling' }), NOW)).toEqual([{ type: 'start', workload: running }])
  })

  test.for(['exited', 'error', 'gone'] as const)('is never started again once %s', (state, { expect }) => {
    expect(planActions([running], actual(), records({ state }), NOW)).toEqual([])
  })

  test('is an error when the agent was interrupted between intent and start', ({ expect }) => {
    expect(planActions([running], actual(), records({ state: 'starting' }), NOW)).toMatchObject([{ type: 'reportError', id: 'a' }])
  })

  test('is reported when it disappeared', ({ expect }) => {
    expect(planActions([running], actual(), records({ state: 'running' }), NOW)).toEqual([{ type: 'reportVanished', id: 'a' }])
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

test('planActions: whatever happened, an id with a record beyond pulling is never started', ({ expect }) => {
  const states = ['starting', 'running', 'exited', 'error', 'gone'] as const
  const phases = [undefined, 'starting', 'running', 'stopping', 'unknown'] as const
  fc.assert(
    fc.property(
      fc.constantFrom(...states),
      fc.constantFrom(...phases),
      fc.constantFrom(running, stopped),
      fc.option(fc.nat(2 * NOW)),
      (state, phase, workload, absentSince) => {
        const plan = planActions([workload], actual(phase), records({ state, absentSince }), NOW)
        expect(plan.some((action) => action.type === 'start')).toBe(false)
      },
    ),
  )
})
