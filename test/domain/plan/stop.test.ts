import { decideSpendStop, type StoppableEndpoint, type StoppablePod, type StopSelection } from '../../../src/domain/plan/stop.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NOW = 10_000_000
const MINUTE_MS = 60_000
const IDLE: StopSelection = { ids: null, idleForMs: 30 * MINUTE_MS, nowMs: NOW }

function pod(change: Partial<StoppablePod> = {}): StoppablePod {
  const none = { clusterId: null, clusterName: null, version: 1, locked: false }
  return {
    id: 'p',
    name: 'p',
    ...none,
    status: 'RUNNING',
    isToRun: true,
    nanosPerHour: 9,
    stoppedNanosPerHour: 1,
    idleSinceMs: null,
    ...change,
  }
}

function endpoint(idleSince: (number | null)[], change: Partial<StoppableEndpoint> = {}): StoppableEndpoint {
  const workers = idleSince.map((idleSinceMs, index) => ({ id: `w${index}`, held: 0, idleSinceMs }))
  const impact = { queued: 0, running: 0, workers }
  return { id: 'e', name: 'e', revision: 1, workers: { min: 2, max: 3 }, nanosPerHour: 8, impact, ...change }
}

const ago = (minutes: number) => NOW - minutes * MINUTE_MS
const decide = (of: { pods?: StoppablePod[]; endpoints?: StoppableEndpoint[] }, selection = IDLE) =>
  decideSpendStop({ pods: of.pods ?? [], endpoints: of.endpoints ?? [], volumes: [] }, selection, 100)

describe('[SPD-8] of what is idle', () => {
  it.each([
    ['for as long as asked', ago(30), ['p']],
    ['for less', ago(30) + 1, []],
    ['for an unknown time', null, []],
  ])('an idle pod %s', (_title, idleSinceMs, stopped) => {
    const plan = decide({ pods: [pod({ idleSinceMs })] })
    expect(plan.stops.map(({ id }) => id)).toEqual(stopped)
    expect(plan.stays.map(({ reason }) => reason)).toEqual(stopped.length > 0 ? [] : ['it has no known idle time of 30 min'])
  })

  it('a pod of a cluster always stays, and a named one must be idle too', () => {
    const plan = decide({ pods: [pod({ clusterId: 'c', clusterName: 'gang', idleSinceMs: 0 })] })
    expect(plan).toMatchObject({ stops: [], stays: [{ kind: 'CLUSTER', id: 'c' }] })
    expect(decide({ pods: [pod()] }, { ...IDLE, ids: ['p'] })).toMatchObject({ stops: [], stays: [{ id: 'p' }] })
  })

  const busy = { queued: 0, running: 1 }
  it.each<[string, StoppableEndpoint, object]>([
    ['an endpoint keeps no workers any more', endpoint([ago(30), ago(99)]), { min: 0, max: 3 }],
    ['not one with a worker that worked since', endpoint([ago(29), ago(99)]), {}],
    ['not one with a worker of unknown activity', endpoint([null, ago(99)]), {}],
    ['not one with a job', { ...endpoint([ago(99)]), impact: { ...endpoint([ago(99)]).impact, ...busy } }, {}],
    ['not one without workers', endpoint([]), {}],
    ['not one whose workers leave by themselves', endpoint([ago(99)], { workers: { min: 0, max: 3 } }), {}],
  ])('%s', (_title, one, bounds) => {
    const { stops, stoppedWorkers } = decide({ endpoints: [one] })
    expect(stops).toHaveLength(Object.keys(bounds).length > 0 ? 1 : 0)
    expect(Object.fromEntries(stoppedWorkers)).toEqual(Object.keys(bounds).length > 0 ? { e: bounds } : {})
  })

  it('differs from a plan to stop everything', () => {
    const one = { endpoints: [endpoint([ago(99)])] }
    expect(decide(one).facts).not.toBe(decide(one, { ...IDLE, idleForMs: null }).facts)
  })
})
