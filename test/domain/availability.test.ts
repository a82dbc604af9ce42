import fc from 'fast-check'
import {
  bestRoom,
  countPlacements,
  cpuPodPlacer,
  cpuWorkerPlacer,
  findClusterRoom,
  findRoom,
  gpuPodPlacer,
  gpuWorkerPlacer,
  levelOf,
  without,
} from '../../src/domain/availability.ts'
import { mergeCatalog } from '../../src/domain/catalog/merge.ts'
import { SEED_CATALOG } from '../../src/domain/catalog/seed.ts'
import { type PlacementHost, rankHosts } from '../../src/domain/host/placement.ts'
import { podDiskGb, rankHostsForPod } from '../../src/domain/pod/place/placement.ts'
import type { PodSpec } from '../../src/domain/pod/record.ts'
import { placementRequestOf } from '../../src/domain/worker/shape.ts'
import { describe, expect, it } from '../support/unit.ts'

const L4 = 'NVIDIA L4'
const A5000 = 'NVIDIA RTX A5000'
const ASKED = { teamId: 't', typeId: L4, count: 1, cloud: 'SECURE', cudaVersions: [], minCudaVersion: null } as const

function makeHost(change: Partial<PlacementHost> = {}): PlacementHost {
  return {
    id: 'h1',
    online: true,
    cordoned: false,
    publicIp: null,
    dataCenterId: 'DC-1',
    cloud: 'SECURE',
    runtimes: ['docker', 'process'],
    sharedVolumes: null,
    runtimeClass: 'runc',
    requiredClasses: new Map(),
    heldBy: null,
    vcpuTotal: 64,
    vcpuFree: 64,
    memoryMbTotal: 262_144,
    memoryMbFree: 262_144,
    diskGbFree: 1_000,
    gpus: [{ typeId: L4, total: 8, free: 8, cudaVersion: '12.8' }],
    ...change,
  }
}

const gpu = (typeId: string) =>
  fc
    .record({ total: fc.nat(12), used: fc.nat(12), cudaVersion: fc.constantFrom('12.4', '12.8', '13.0', null) })
    .map(({ total, used, cudaVersion }) => ({ typeId, total, free: Math.max(0, total - used), cudaVersion }))
const host = fc
  .record({
    online: fc.boolean(),
    cordoned: fc.boolean(),
    dataCenterId: fc.constantFrom('DC-1', 'DC-2', 'DC-3'),
    cloud: fc.constantFrom('SECURE' as const, 'COMMUNITY' as const),
    runtimes: fc.constantFrom(['docker'], ['process'], ['docker', 'process']),
    runtimeClass: fc.constantFrom('runc', 'runsc'),
    requiredClasses: fc.constantFrom(new Map<string, string>(), new Map([['t', 'runsc']])),
    heldBy: fc.constantFrom(null, [], ['t'], ['other'], ['t', 'other']),
    vcpuTotal: fc.integer({ min: 1, max: 96 }),
    vcpuFree: fc.integer({ min: 0, max: 96 }),
    memoryMbTotal: fc.integer({ min: 1_024, max: 262_144 }),
    memoryMbFree: fc.integer({ min: 0, max: 262_144 }),
    diskGbFree: fc.integer({ min: 0, max: 200 }),
    gpus: fc.tuple(gpu(L4), gpu(A5000)).map((both) => both),
  })
  .map((change) => makeHost(change))
const fleet = fc.array(host, { maxLength: 8 }).map((hosts) => hosts.map((one, index) => ({ ...one, id: `h${index}` })))
const asked = fc.record({
  teamId: fc.constant('t'),
  typeId: fc.constantFrom(L4, A5000),
  count: fc.integer({ min: 1, max: 9 }),
  cloud: fc.constantFrom('SECURE' as const, 'COMMUNITY' as const),
  cudaVersions: fc.constantFrom([], ['12.8'], ['12.4', '13.0']),
  minCudaVersion: fc.constantFrom(null, '12', '12.5'),
})

/** Places on the best host of all, again and again, until none fits. */
function placeAll(hosts: readonly PlacementHost[], best: (hosts: readonly PlacementHost[]) => Placed | undefined): Map<string, number> {
  const placed = new Map<string, number>()
  let left = [...hosts]
  for (let next = best(left); next; next = best(left)) {
    const { hostId, dataCenterId, ...taken } = next
    left = left.map((one) => (one.id === hostId ? without(one, taken) : one))
    placed.set(dataCenterId, (placed.get(dataCenterId) ?? 0) + 1)
  }
  return placed
}
type Placed = { hostId: string; dataCenterId: string } & Parameters<typeof without>[1]

const sorted = (map: ReadonlyMap<string, number>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

describe('how many more fit', () => {
  it('[CAT-7][CAT-12] equals the number of repeated placements on the best host, for pods', () => {
    fc.assert(
      fc.property(fleet, asked, fc.constantFrom('pack' as const, 'spread' as const), (hosts, ask, strategy) => {
        const { count, typeId, cudaVersions, minCudaVersion } = ask
        const spec: PodSpec = {
          container: { image: 'any', args: '', diskGb: 10, env: {}, ports: [], registry: null },
          compute: {
            kind: 'gpu',
            typeId,
            count,
            allowedCudaVersions: minCudaVersion === null ? [...cudaVersions] : [],
            minCudaVersion,
            minRamGbPerGpu: null,
            minVcpuPerGpu: null,
          },
          cloud: ask.cloud,
          dataCenterIds: [],
          mounts: {},
          globalNetworking: false,
          onHostLoss: 'WAIT',
        }
        const best = (left: readonly PlacementHost[]) => {
          const [first] = rankHostsForPod('t', spec, left, strategy).candidates
          return first && { ...first, diskGb: podDiskGb(spec) }
        }
        const real = count > 8 ? new Map<string, number>() : placeAll(hosts, best)
        const room = findRoom(gpuPodPlacer(SEED_CATALOG, ask), hosts, typeId, Number.POSITIVE_INFINITY)
        expect(sorted(room.byDataCenter)).toEqual(sorted(real))
        const capped = findRoom(gpuPodPlacer(SEED_CATALOG, ask), hosts, typeId)
        expect(levelOf(capped.placements)).toBe(levelOf(room.placements))
        expect(capped.cudaVersions).toEqual(room.cudaVersions)
      }),
      { numRuns: 300 },
    )
  })

  it('[CAT-7][CAT-12] and for workers', () => {
    fc.assert(
      fc.property(fleet, asked, (hosts, ask) => {
        const { count, typeId, cloud, cudaVersions, minCudaVersion } = ask
        const request = placementRequestOf(SEED_CATALOG, {
          teamId: 't',
          cloud,
          dataCenterIds: [],
          container: { image: 'any', diskGb: 10 },
          compute: {
            kind: 'gpu',
            pools: ['AMPERE_24'],
            excludedTypes: [L4, A5000, 'NVIDIA GeForce RTX 3090'].filter((id) => id !== typeId),
            count,
            allowedCudaVersions: [...cudaVersions],
            minCudaVersion,
          },
        })
        const best = (left: readonly PlacementHost[]) => {
          const [first] = rankHosts(request, left).candidates
          return first && { ...first, diskGb: 10 }
        }
        const real = count > 8 ? new Map<string, number>() : placeAll(hosts, best)
        const room = findRoom(gpuWorkerPlacer(SEED_CATALOG, ask), hosts, typeId, Number.POSITIVE_INFINITY)
        expect(sorted(room.byDataCenter)).toEqual(sorted(real))
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    [0, 'NONE'],
    [1, 'LOW'],
    [3, 'LOW'],
    [4, 'MEDIUM'],
    [15, 'MEDIUM'],
    [16, 'HIGH'],
    [1_000, 'HIGH'],
  ])('[CAT-7] %i placements are %s', (placements, level) => {
    expect(levelOf(placements)).toBe(level)
  })

  it('[CAT-12] counts up to the requested number on one host', () => {
    const place = gpuPodPlacer(SEED_CATALOG, ASKED)
    if (!place) throw new Error('not sold')
    expect([countPlacements(place, makeHost(), 5), countPlacements(place, makeHost(), 99)]).toEqual([5, 8])
  })

  it('[CAT-10][CAT-12] is zero where a create would be refused', () => {
    const withdrawn = mergeCatalog(SEED_CATALOG, [{ kind: 'GPU', id: L4, body: { offered: false } }])
    const places = [
      gpuPodPlacer(withdrawn, ASKED),
      gpuPodPlacer(SEED_CATALOG, { ...ASKED, count: 9 }),
      gpuPodPlacer(SEED_CATALOG, { ...ASKED, typeId: 'NVIDIA H200', cloud: 'COMMUNITY' }),
      gpuWorkerPlacer(withdrawn, ASKED),
      gpuWorkerPlacer(SEED_CATALOG, { ...ASKED, typeId: 'NVIDIA A30' }),
      cpuPodPlacer(SEED_CATALOG, 't', 'cpu3c', 64),
      cpuWorkerPlacer(SEED_CATALOG, 't', 'cpu3c', 3),
    ]
    expect(places.map((place) => findRoom(place, [makeHost()], L4).placements)).toEqual([0, 0, 0, 0, 0, 0, 0])
  })

  it('[CAT-4] CPU pods and workers take cores and memory of any host', () => {
    const hosts = [makeHost({ gpus: [], vcpuFree: 9, vcpuTotal: 9 })]
    const counts = [cpuPodPlacer(SEED_CATALOG, 't', 'cpu3c', 2), cpuWorkerPlacer(SEED_CATALOG, 't', 'cpu5m', 4)].map(
      (place) => findRoom(place, hosts, null).placements,
    )
    expect(counts).toEqual([4, 2])
  })

  it('[CAT-2] is that of the product with most room, in each place', () => {
    const room = (placements: number, places: [string, number][], versions: string[]) => ({
      placements,
      byDataCenter: new Map(places),
      cudaVersions: new Set(versions),
    })
    expect(
      bestRoom([
        room(3, [['A', 3]], ['12.4']),
        room(
          2,
          [
            ['A', 1],
            ['B', 1],
          ],
          ['12.8'],
        ),
      ]),
    ).toEqual(
      room(
        3,
        [
          ['A', 3],
          ['B', 1],
        ],
        ['12.4', '12.8'],
      ),
    )
    expect(bestRoom([])).toEqual(room(0, [], []))
  })
})

describe('room for clusters', () => {
  it('[CAT-14] counts members on hosts with private networks, where two have room', () => {
    const two = { gpus: [{ typeId: L4, total: 2, free: 2, cudaVersion: null }] }
    const one = { gpus: [{ typeId: L4, total: 1, free: 1, cudaVersion: null }] }
    const hosts = [
      makeHost({ id: 'a', overlay: 'routed', ...two }),
      makeHost({ id: 'b', dataCenterId: 'DC-2', overlay: 'routed', ...one }),
      makeHost({ id: 'c', dataCenterId: 'DC-2', overlay: 'none', ...two }),
    ]
    expect(findClusterRoom(SEED_CATALOG, hosts, ASKED)).toMatchObject({ placements: 2, byDataCenter: new Map([['DC-1', 2]]) })
    expect(findClusterRoom(SEED_CATALOG, hosts.slice(1), ASKED).placements).toBe(0)
  })
})
