import { describe, expect, test } from 'vitest'
import type { PlacementHost, PlacementRequest } from '../../../src/domain/host/placement.ts'
import { describeHolders } from '../../../src/domain/preemption/holders-text.ts'
import type { CapacityHolder, CapacityOffer } from '../../../src/domain/preemption/offers.ts'
import {
  type CapacitySearch,
  type HeldCapacity,
  type PreemptionPlan,
  planPreemption,
  promisingHosts,
} from '../../../src/domain/preemption/plan-preemption.ts'

const VCPUS = 2
const REQUEST: PlacementRequest = {
  teamId: 'ada',
  runtime: 'docker',
  dataCenterIds: [],
  cloud: 'SECURE',
  diskGb: 5,
  shapes: [{ gpu: null, vcpus: VCPUS, memoryMb: 1_024 }],
  allowedCudaVersions: [],
  minCudaVersion: null,
}
const host = (id: string, vcpus: number, change: Partial<PlacementHost> = {}): PlacementHost => ({
  ...{
    id,
    online: true,
    cordoned: false,
    dataCenterId: 'D',
    publicIp: null,
    cloud: 'SECURE',
    runtimes: ['docker'],
    sharedVolumes: null,
    runtimeClass: 'runc',
    requiredClasses: new Map(),
    heldBy: null,
  },
  ...{ vcpuTotal: vcpus, vcpuFree: 0, memoryMbTotal: 64_000, memoryMbFree: 64_000, diskGbFree: 100, gpus: [] },
  ...change,
})
/** `endpoint/worker@host` of a team; an idle time makes it idle. */
interface Held {
  id: string
  endpoint?: string
  host?: string
  team?: string
  vcpus?: number
  kind?: 'worker' | 'pod'
  use?: CapacityHolder['use']
  idleMs?: number
}
const allocationOf = ({ id, endpoint = 'a', host: hostId = 'h', team = 'me', vcpus = VCPUS, kind = 'worker' }: Held): HeldCapacity => ({
  ...{ id, hostId, teamId: team, kind, ownerId: endpoint, gpu: null, vcpus, memoryMb: 1_024, diskGb: 5 },
})

function searchOf(held: readonly Held[], change: Partial<CapacitySearch> = {}, spare: Record<string, number> = {}): CapacitySearch {
  const offers = new Map<string, CapacityOffer>()
  for (const [endpoint, some] of Map.groupBy(held, ({ endpoint: id = 'a' }) => id)) {
    const holders = some.map(
      ({ id, idleMs, use }) => ({ workerId: id, use: use ?? (idleMs === undefined ? 'working' : 'idle'), idleMs: idleMs ?? 0 }) as const,
    )
    const idle = holders.filter(({ use }) => use === 'idle').length
    const isOwn = (some[0]?.team ?? 'me') === 'me'
    offers.set(endpoint, { holders, spare: spare[endpoint] ?? idle, keptFor: 'workers.min', pauseMs: isOwn ? 1_000 : 10_000 })
  }
  const total = held.reduce((sum, { vcpus = VCPUS }) => sum + vcpus, 0)
  const hosts = [host('h', total)]
  return { teamId: 'me', request: REQUEST, hosts, allocations: held.map(allocationOf), offers, leavingIds: new Set(), ...change }
}
const wanting = (vcpus: number) => ({ request: { ...REQUEST, shapes: [{ gpu: null, vcpus, memoryMb: 1_024 }] } })
const plan = (held: readonly Held[], change: Partial<CapacitySearch> = {}, spare: Record<string, number> = {}) =>
  goers(planPreemption(searchOf(held, change, spare)))
const goers = (found: PreemptionPlan) => (found.kind === 'displace' ? found.workers.map(({ workerId }) => workerId) : found.kind)

describe('[PREEMPT-1, PREEMPT-2] the workers that are preempted', () => {
  test.each<[string, string | string[], readonly Held[], Partial<CapacitySearch>, Record<string, number>]>([
    ['none, when all are at work', 'none', [{ id: 'x' }], {}, {}],
    ['the idle one', ['y'], [{ id: 'x' }, { id: 'y', idleMs: 1_000 }], {}, {}],
    ['not one that has just become idle', 'none', [{ id: 'y', idleMs: 999 }], {}, {}],
    [
      'the longest idle one',
      ['y'],
      [
        { id: 'x', idleMs: 2_000 },
        { id: 'y', idleMs: 3_000 },
      ],
      {},
      {},
    ],
    ['not one beyond what its endpoint can spare', 'none', [{ id: 'x', idleMs: 2_000 }], {}, { a: 0 }],
    [
      'of several endpoints together',
      ['y', 'x'],
      [
        { id: 'x', idleMs: 2_000 },
        { id: 'y', endpoint: 'b', idleMs: 3_000 },
      ],
      wanting(4),
      {},
    ],
    [
      'not two of an endpoint that can spare one',
      'none',
      [
        { id: 'x', idleMs: 2_000 },
        { id: 'y', idleMs: 3_000 },
      ],
      wanting(4),
      { a: 1 },
    ],
    ['none, when all together are not enough', 'none', [{ id: 'x', idleMs: 2_000 }, { id: 'y' }], wanting(4), {}],
    [
      'one large rather than two small ones',
      ['large'],
      [
        { id: 'x', idleMs: 9_000 },
        { id: 'y', idleMs: 9_000 },
        { id: 'large', vcpus: 4, idleMs: 2_000 },
      ],
      wanting(4),
      {},
    ],
    [
      'none that is not needed beside another',
      ['large', 'x'],
      [
        { id: 'small', vcpus: 1, idleMs: 9_000 },
        { id: 'large', vcpus: 4, idleMs: 8_000 },
        { id: 'x', idleMs: 7_000 },
      ],
      wanting(6),
      {},
    ],
    [
      'none, while enough is leaving',
      'pending',
      [
        { id: 'x', idleMs: 2_000 },
        { id: 'y', use: 'leaving' },
      ],
      {},
      {},
    ],
    [
      'none, while the requesting endpoint releases enough itself',
      'pending',
      [{ id: 'x', idleMs: 2_000 }, { id: 'y' }],
      { leavingIds: new Set(['y']) },
      {},
    ],
    [
      'one beside what is leaving, when that is not enough',
      ['x'],
      [
        { id: 'x', idleMs: 2_000 },
        { id: 'y', use: 'leaving' },
      ],
      wanting(4),
      {},
    ],
    [
      'a worker that does not leave does not count as leaving',
      ['x'],
      [
        { id: 'x', idleMs: 2_000 },
        { id: 'y', use: 'stuck' },
      ],
      {},
      {},
    ],
    ['never a pod', 'none', [{ id: 'p', kind: 'pod' }], {}, {}],
  ])('%s', (_case, expected, held, change, spare) => {
    expect(plan(held, change, spare)).toEqual(expected)
  })

  test('are all on one host, the one with the fewest', () => {
    const held = [
      { id: 'x', host: 'g', vcpus: 1, idleMs: 9_000 },
      { id: 'y', host: 'g', vcpus: 1, idleMs: 9_000 },
      { id: 'z', host: 'h', idleMs: 2_000 },
    ]
    expect(plan(held, { hosts: [host('g', 2), host('h', 2)] })).toEqual(['z'])
    const halves = [held[0], { id: 'v', host: 'h', vcpus: 1, idleMs: 9_000 }].filter((one) => one !== undefined)
    expect(plan(halves, { hosts: [host('g', 2, { vcpuTotal: 1 }), host('h', 1)] })).toBe('none')
  })

  test('a host that shrank below what it holds has less than nothing free', () => {
    expect(plan([{ id: 'x', idleMs: 2_000 }, { id: 'y' }], { hosts: [host('h', 3)] })).toBe('none')
  })

  test('disk counts too', () => {
    const tight = { ...wanting(2), hosts: [host('h', 2, { diskGbFree: 0 })] }
    expect(plan([{ id: 'x', idleMs: 2_000 }], tight)).toEqual(['x'])
    expect(plan([{ id: 'x', idleMs: 2_000 }], { ...tight, request: { ...REQUEST, diskGb: 6 } })).toBe('none')
  })
})

describe('[PREEMPT-4] the fair share of a host', () => {
  const theirs = (id: string, idleMs?: number, team = 'them'): Held => ({
    id,
    team,
    endpoint: `of ${team}`,
    ...(idleMs !== undefined && { idleMs }),
  })
  test.each<[string, string | string[], readonly Held[], Partial<CapacitySearch>]>([
    ['an account with all of it gives way', ['x'], [theirs('x', 10_000)], {}],
    ['not before 10 s', 'none', [theirs('x', 9_999)], {}],
    ['the own account first, though idle for less long', ['mine'], [theirs('x', 60_000), theirs('y'), { id: 'mine', idleMs: 1_000 }], {}],
    ['an account with no more than its share does not', 'none', [theirs('x', 60_000), { id: 'mine' }], {}],
    ['nor to one that has its share already', 'none', [theirs('x', 60_000), theirs('y', 60_000), { id: 'mine' }, { id: 'mine2' }], {}],
    [
      'nor one that is above it, to one that has its share already',
      'none',
      [theirs('x', 60_000), theirs('y', 60_000), theirs('z', 60_000), { id: 'mine' }, { id: 'mine2' }, theirs('t', undefined, 'third')],
      {},
    ],
    ['one above its share gives way to one below', ['x'], [theirs('x', 60_000), theirs('y', 50_000), { id: 'mine', vcpus: 1 }], {}],
    ['down to its share and no further', 'none', [theirs('x', 60_000), theirs('y', 50_000)], wanting(4)],
    ['three accounts: a half is above a third', ['x'], [theirs('x', 60_000), theirs('y', undefined, 'third')], {}],
  ])('%s', (_case, expected, held, change) => {
    expect(plan(held, change)).toEqual(expected)
  })

  test('GPUs count as much as CPUs: the dominant resource of an account decides', () => {
    const gpus = [{ typeId: 'L4', total: 2, free: 0, cudaVersion: null }]
    const request = { ...REQUEST, shapes: [{ gpu: { typeId: 'L4', count: 1 }, vcpus: VCPUS, memoryMb: 1_024 }] }
    const search = searchOf([theirs('x', 60_000), theirs('y', 60_000)], { request, hosts: [host('h', 400, { gpus })] })
    const withGpus = search.allocations.map((allocation) => ({ ...allocation, gpu: { typeId: 'L4', count: 1 } }))
    expect(goers(planPreemption({ ...search, allocations: withGpus }))).toEqual(['x'])
  })
})

test('only hosts that the request would fit when empty are considered', () => {
  const hosts = [host('small', 1), host('cordoned', 8, { cordoned: true }), host('good', 8), host('offline', 8, { online: false })]
  expect(promisingHosts(REQUEST, hosts).map(({ id }) => id)).toEqual(['good'])
})

describe('[PREEMPT-6] the holders of the room', () => {
  const text = (held: readonly Held[], spare: Record<string, number> = {}) => {
    const { allocations, offers, request } = searchOf(held, {}, spare)
    const names = new Map([
      ['a', 'first'],
      ['b', 'second'],
      ['c', 'third'],
      ['d', 'fourth'],
    ])
    return describeHolders({ teamId: 'me', endpointId: 'self', request, allocations, offers, names })
  }
  test.each<[string, string | null, readonly Held[], Record<string, number>]>([
    ['no holder', null, [], {}],
    ['a busy worker', '2 vCPUs are held by your endpoint "first" (1 worker at work)', [{ id: 'x' }], {}],
    [
      'workers of every kind',
      '12 vCPUs are held by your endpoint "first" (1 worker at work, 1 worker starting, 1 worker leaving, 1 worker that did not stop in time, ' +
        '1 idle worker, can be preempted in 1 s, 1 idle worker kept for workers.min)',
      [
        { id: 'w' },
        { id: 's', use: 'starting' },
        { id: 'l', use: 'leaving' },
        { id: 't', use: 'stuck' },
        { id: 'i', idleMs: 500 },
        { id: 'j', idleMs: 400 },
      ],
      { a: 1 },
    ],
    ['a pod', '2 vCPUs are held by 1 pod of yours', [{ id: 'p', kind: 'pod', endpoint: 'p' }], {}],
    [
      'others are counted, not named',
      '2 vCPUs are held by your endpoint "first" (1 worker at work); the rest is held by 2 workers and 1 pod of other accounts',
      [
        { id: 'x' },
        { id: 'y', team: 't', endpoint: 'ty' },
        { id: 'z', team: 'u', endpoint: 'uz' },
        { id: 'p', team: 'u', kind: 'pod', endpoint: 'p' },
      ],
      {},
    ],
    ['others alone', 'the room is held by 1 worker of other accounts', [{ id: 'y', team: 't', endpoint: 'ty' }], {}],
    [
      'three endpoints are named',
      [
        '2 vCPUs are held by this endpoint (1 worker at work)',
        '2 vCPUs are held by your endpoint "first" (1 worker at work)',
        '2 vCPUs are held by your endpoint "second" (1 worker at work)',
        '4 vCPUs are held by 2 more endpoints of yours',
      ].join('; '),
      [{ id: 's', endpoint: 'self' }, { id: 'x' }, { id: 'y', endpoint: 'b' }, { id: 'z', endpoint: 'c' }, { id: 'v', endpoint: 'd' }],
      {},
    ],
  ])('%s', (_case, expected, held, spare) => {
    expect(text(held, spare)).toBe(expected)
  })
})
