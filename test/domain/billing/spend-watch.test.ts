import fc from 'fast-check'
import { NO_SPEND_SETTINGS, spendLimitsOf } from '../../../src/domain/billing/spend.ts'
import { decideStops, decideWarnings, type PaidPod, type Warned } from '../../../src/domain/billing/spend-watch.ts'
import { describe, expect, it } from '../../support/unit.ts'

const USD = 1_000_000
const NANOS = 1_000_000_000
const NOW = Date.parse('2026-11-22T12:00:00Z')
const QUIET: Warned = { warnedMonth: null, warnedRate: false }
const limitsOf = (perHour: number, perMonth: number | null) =>
  spendLimitsOf({ ...NO_SPEND_SETTINGS, microsPerHour: perHour * USD, microsPerMonth: perMonth && perMonth * USD }, 1_000 * USD)
const amounts = (perHour: number, month: number | null) => ({ nanosPerHour: perHour * NANOS, monthMicros: month && month * USD })
const useOf = (perHour: number, month: number | null) => ({ ...amounts(perHour, month), together: null })
const watch = (perHour: number, month: number | null, warned = QUIET, limits = limitsOf(10, 100)) =>
  decideWarnings({ limits, use: useOf(perHour, month), warned, month: '2026-11' }, NOW)

describe('a warning', () => {
  it('[BIL-28] says which limit is near, with the figures', () => {
    expect(watch(8, 80)).toEqual({
      warnings: [
        { type: 'spend.warning', timestamp: '2026-11-22T12:00:00Z', data: { limit: 'HOUR', used: 8, bound: 10, share: 0.8, month: null } },
        {
          type: 'spend.warning',
          timestamp: '2026-11-22T12:00:00Z',
          data: { limit: 'MONTH', used: 80, bound: 100, share: 0.8, month: '2026-11' },
        },
      ],
      warned: { warnedRate: true, warnedMonth: '2026-11' },
    })
  })

  it.each<[string, number, number | null, Warned, string[], Warned]>([
    ['nothing is near', 7.9, 79, QUIET, [], QUIET],
    ['the rate was warned of', 9, 0, { ...QUIET, warnedRate: true }, [], { ...QUIET, warnedRate: true }],
    ['it has gone down a little', 7.5, 0, { ...QUIET, warnedRate: true }, [], { ...QUIET, warnedRate: true }],
    ['it has gone down', 6.9, 0, { ...QUIET, warnedRate: true }, [], QUIET],
    ['the month was warned of', 0, 99, { ...QUIET, warnedMonth: '2026-11' }, [], { ...QUIET, warnedMonth: '2026-11' }],
    ['another month was', 0, 99, { ...QUIET, warnedMonth: '2026-10' }, ['MONTH'], { ...QUIET, warnedMonth: '2026-11' }],
    ['the rate comes near again', 8, 0, QUIET, ['HOUR'], { ...QUIET, warnedRate: true }],
    ['nothing runs', 0, 0, QUIET, [], QUIET],
  ])('[BIL-28] comes once: %s', (_when, perHour, month, warned, limits, after) => {
    const outcome = watch(perHour, month, warned)
    expect(outcome.warnings.map(({ data }) => data.limit)).toEqual(limits)
    expect(outcome.warned).toEqual(after)
  })

  it('[BIL-28] knows no month without a limit of one', () => {
    expect(watch(0, null, QUIET, limitsOf(10, null)).warnings).toEqual([])
  })
})

describe('pods that the limit stops', () => {
  const pod = (id: string, createdAtMs: number, usd = 1, locked = false): PaidPod => {
    return { id, teamId: 't', hostId: 'h', createdAtMs, locked, savesNanosPerHour: usd * NANOS }
  }
  const idsOf = (perHour: number, month: number | null, pods: PaidPod[]) =>
    decideStops('t', limitsOf(3, 100), useOf(perHour, month), pods, '2026-11')?.pods.map(({ id }) => id) ?? []

  it.each<[string, number, number | null, PaidPod[], string[]]>([
    ['within the limits', 3, 99, [pod('a', 1), pod('b', 2)], []],
    ['no more than the rate needs, the newest', 5, 0, [pod('a', 1), pod('b', 2), pod('c', 3)], ['c', 'b']],
    ['the newer that is not enough before the older', 5, 0, [pod('a', 1, 4), pod('b', 2, 1)], ['b', 'a']],
    ['never a locked one', 5, 0, [pod('a', 1), pod('b', 2, 9, true)], ['a']],
    ['never a free one', 5, 0, [pod('a', 1), pod('b', 2, 0)], ['a']],
    ['all when the month is spent', 2, 100, [pod('a', 1), pod('b', 2), pod('c', 0, 1, true)], ['b', 'a']],
    ['of one moment the last by id', 4, 0, [pod('a', 1), pod('b', 1)], ['b']],
  ])('[BIL-27] %s', (_what, perHour, month, pods, ids) => {
    expect(idsOf(perHour, month, pods)).toEqual(ids)
  })

  it('[S2] [SHR-2] above a shared ceiling are the newest of all accounts, and an account stops its own among these', () => {
    const limits = spendLimitsOf({ ...NO_SPEND_SETTINGS, ceilingMicrosPerHour: 3 * USD }, 80 * USD)
    const of = (teamId: string, id: string, createdAtMs: number) => ({ ...pod(id, createdAtMs), teamId })
    const all = [of('t', 'a', 1), of('u', 'b', 2), of('t', 'c', 3), of('u', 'd', 4)]
    const stopsOf = (teamId: string, together: number) =>
      decideStops(teamId, limits, { ...amounts(2, null), together: amounts(together, null) }, all, '2026-11')
    expect([stopsOf('t', 3), stopsOf('u', 3)]).toEqual([null, null])
    expect([stopsOf('t', 4), stopsOf('u', 4)?.pods.map(({ id }) => id)]).toEqual([null, ['d']])
    expect([stopsOf('t', 6), stopsOf('u', 6)].map((stops) => stops?.pods.map(({ id }) => id))).toEqual([['c'], ['d', 'b']])
    expect(stopsOf('t', 6)).toMatchObject({
      reason: 'stopped by the spend limit: 6.00 of 3.00 USD per hour were in use by all accounts of one person together',
      figures: { limit: 'HOUR', used: 6, bound: 3, share: 2 },
    })
  })

  it.each([
    [5, 0, 'stopped by the spend limit: 5.00 of 3.00 USD per hour were in use'],
    [1, 100.5, 'stopped by the spend limit: 100.50 of 100.00 USD of this month are spent'],
  ])('[BIL-27] with %d USD an hour and %d in the month they say why', (perHour, month, reason) => {
    expect(decideStops('t', limitsOf(3, 100), useOf(perHour, month), [pod('a', 1)], '2026-11')?.reason).toBe(reason)
  })

  it('[BIL-29] have the figures of the limit that stops them, of the month before the hour', () => {
    const figuresOf = (perHour: number, month: number | null) =>
      decideStops('t', limitsOf(3, 100), useOf(perHour, month), [pod('a', 1)], '2026-11')?.figures
    expect(figuresOf(4.5, 99)).toEqual({ limit: 'HOUR', used: 4.5, bound: 3, share: 1.5, month: null })
    expect(figuresOf(4.5, 101)).toEqual({ limit: 'MONTH', used: 101, bound: 100, share: 1.01, month: '2026-11' })
  })

  it('[BIL-27] bring the rate to the limit where possible, and none of them is unnecessary', () => {
    const pods = fc.array(fc.record({ createdAtMs: fc.nat(50), usd: fc.nat(5), locked: fc.boolean() }), { maxLength: 12 })
    fc.assert(
      fc.property(pods, fc.nat(20), (given, limit) => {
        const all = given.map(({ createdAtMs, usd, locked }, i) => pod(`p${i}`, createdAtMs, usd, locked))
        const rate = all.reduce((total, { savesNanosPerHour }) => total + savesNanosPerHour, 0)
        const stopped =
          decideStops('t', limitsOf(limit, null), { nanosPerHour: rate, monthMicros: null, together: null }, all, '2026-11')?.pods ?? []
        const saved = stopped.reduce((total, { savesNanosPerHour }) => total + savesNanosPerHour, 0)
        const stoppable = all.filter(({ locked, savesNanosPerHour }) => !locked && savesNanosPerHour > 0)
        const isWithin = rate - saved <= limit * NANOS
        expect(isWithin || stopped.length === stoppable.length).toBe(true)
        const last = stopped.at(-1)
        if (last) expect(rate - saved + last.savesNanosPerHour).toBeGreaterThan(limit * NANOS)
        expect(stopped.some(({ locked }) => locked)).toBe(false)
      }),
    )
  })
})
