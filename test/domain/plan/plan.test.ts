import type { ChangedResource, ChangeEffect } from '../../../src/contract/change-plan.ts'
import { bounded, eachOf, effect, MAX_NAMED } from '../../../src/domain/plan/effect.ts'
import { describe, expect, it } from '../../support/unit.ts'

const ENDPOINT: ChangedResource = { kind: 'endpoint', id: 'e', name: 'chat' }
const worker = (id: number): ChangedResource => ({ kind: 'worker', id: `w${id}`, name: null })

describe('[DRY-5] a plan of many things', () => {
  it('describes the resource itself fully, names the first hundred others and counts the rest by outcome', () => {
    const stops = Array.from({ length: MAX_NAMED + 3 }, (_, index) => effect(worker(index), 'STOPS', 'WARNING', 'it stops'))
    const moves = [effect(worker(900), 'MOVES', 'INFO', 'it moves'), effect(worker(901), 'MOVES', 'LOSS', 'it moves')]
    const own = effect(ENDPOINT, 'DELETES', 'LOSS', 'it is gone')
    const shown = bounded(ENDPOINT, [...stops, ...moves, own])
    expect(shown.slice(0, MAX_NAMED)).toEqual(stops.slice(0, MAX_NAMED))
    expect(shown.slice(MAX_NAMED)).toEqual<ChangeEffect[]>([
      own,
      { kind: 'STOPS', resource: ENDPOINT, what: 'the same of 3 more', severity: 'WARNING', amount: 3 },
      { kind: 'MOVES', resource: ENDPOINT, what: 'the same of 2 more', severity: 'LOSS', amount: 2 },
    ])
    expect(bounded(ENDPOINT, [...stops.slice(0, MAX_NAMED), own])).toHaveLength(MAX_NAMED + 1)
  })

  it('adds the counts of a query that names no objects', () => {
    const notify = (id: number) => effect(worker(id), 'STOPS', 'WARNING', 'it stops')
    expect(eachOf(ENDPOINT, { first: [1, 2], total: 5 }, notify)).toEqual([
      notify(1),
      notify(2),
      { kind: 'STOPS', resource: ENDPOINT, what: '3 more: it stops', severity: 'WARNING', amount: 3 },
    ])
    expect(eachOf(ENDPOINT, { first: [], total: 0 }, notify)).toEqual([])
  })
})
