import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classesOfRequest, compareOpenings, type Opening, type OpeningClass } from '../../../src/domain/host/openings.ts'
import { type PlacementHost, type PlacementRequest, type PlacementStrategy, rankHosts } from '../../../src/domain/host/placement.ts'
import { classesOfPod, rankHostsForPod } from '../../../src/domain/pod/place/placement.ts'
import { type FleetReader, searchHosts } from '../../../src/effects/placement/search.ts'
import { randomHost, randomPod, randomRequest, toPlacementHosts } from '../../support/hosts/random-fleet.ts'

const ACCOUNTS = ['ada', 'bob']
const RUNS = 10_000
const WANTED = 5

/** The index over hosts in memory, and what a search read. */
class IndexInMemory implements FleetReader {
  judged = 0
  read = 0
  private readonly fleet: readonly PlacementHost[]
  private readonly strategy: PlacementStrategy

  constructor(fleet: readonly PlacementHost[], strategy: PlacementStrategy) {
    this.fleet = fleet
    this.strategy = strategy
  }

  levels(classes: readonly OpeningClass[]): Promise<number[][]> {
    const sign = this.strategy === 'pack' ? 1 : -1
    return Promise.resolve(
      classes.map((of) =>
        [...new Set(this.openingsOf(of).map(({ gpusFree }) => gpusFree))]
          .filter((gpusFree) => gpusFree >= (of.gpu?.count ?? 0))
          .toSorted((a, b) => sign * (a - b)),
      ),
    )
  }

  page(queries: Parameters<FleetReader['page']>[0], limit: number): Promise<Opening[][]> {
    const pages = queries.map(({ of, gpusFree, after }) =>
      this.openingsOf(of)
        .filter(
          (one) =>
            one.gpusFree === gpusFree && (after === null || compareOpenings(this.strategy, one, after) > 0) && one.hostId !== after?.hostId,
        )
        .toSorted((a, b) => compareOpenings(this.strategy, a, b))
        .slice(0, limit),
    )
    this.read += pages.flat().length
    return Promise.resolve(pages)
  }

  hosts(hostIds: readonly string[]): Promise<PlacementHost[]> {
    this.judged += hostIds.length
    return Promise.resolve(this.fleet.filter(({ id }) => hostIds.includes(id)))
  }

  private openingsOf({ gpu, cloud, dataCenterId, tenant, vcpus, memoryMb, diskGb }: OpeningClass): Opening[] {
    return this.fleet
      .filter((host) => host.online && !host.cordoned && !host.diskFull && host.cloud === cloud && tenantOf(host) === tenant)
      .filter((host) => dataCenterId === null || host.dataCenterId === dataCenterId)
      .filter((host) => gpu === null || host.gpus.some(({ typeId, free }) => typeId === gpu.typeId && free >= gpu.count))
      .filter((host) => host.vcpuFree >= vcpus && host.memoryMbFree >= memoryMb && host.diskGbFree >= diskGb)
      .map(({ id, gpus, vcpuFree }) => ({ hostId: id, vcpuFree, gpusFree: gpus.reduce((sum, { free }) => sum + free, 0) }))
  }
}

function tenantOf({ heldBy }: PlacementHost): string {
  if (heldBy === null || heldBy.length === 0) return ''
  return heldBy.length === 1 ? (heldBy[0] ?? '') : '*'
}

const strategies = fc.constantFrom('pack' as const, 'spread' as const)
const requiredClass = fc.constantFrom(null, null, 'runsc')
const fleets = (most: number) =>
  fc.tuple(fc.array(randomHost, { maxLength: most }), requiredClass).map(([fleet, required]) => toPlacementHosts(fleet, ACCOUNTS, required))

/** The search found what the full scan has, from its first candidate on, and enough of it. */
function expectSame(found: readonly unknown[] | null, all: readonly unknown[]): void {
  // The caller ranks the whole fleet then.
  if (found === null) return
  expect(found).toEqual(all.slice(0, found.length))
  expect(found.length).toBeGreaterThanOrEqual(Math.min(WANTED, all.length))
}

async function searchForWorker(fleet: readonly PlacementHost[], request: Parameters<typeof rankHosts>[0]) {
  const reader = new IndexInMemory(fleet, 'pack')
  const judge = (rank: number, hosts: readonly PlacementHost[]) =>
    rankHosts({ ...request, shapes: request.shapes.slice(rank, rank + 1) }, hosts).candidates
  const found = await searchHosts(reader, { classes: classesOfRequest(request), strategy: 'pack', judge }, WANTED)
  return { found, reader }
}

describe('[PLACE-1] the search by the index answers as a scan of the whole fleet', () => {
  test.each([
    ['small', RUNS, 12],
    ['large', 200, 300],
  ])('for workers, on %s fleets', async (_name, numRuns, most) => {
    await fc.assert(
      fc.asyncProperty(fleets(most), randomRequest('ada'), async (fleet, request) => {
        const { found } = await searchForWorker(fleet, request)
        expectSame(found, rankHosts(request, fleet).candidates)
      }),
      { numRuns },
    )
  })

  test.each([
    ['small', RUNS, 12],
    ['large', 200, 300],
  ])('for pods, in both orders, on %s fleets', async (_name, numRuns, most) => {
    await fc.assert(
      fc.asyncProperty(fleets(most), randomPod, strategies, async (fleet, spec, strategy) => {
        const judge = (_rank: number, hosts: readonly PlacementHost[]) => rankHostsForPod('ada', spec, hosts, strategy).candidates
        const search = { classes: classesOfPod('ada', spec), strategy, judge }
        const found = await searchHosts(new IndexInMemory(fleet, strategy), search, WANTED)
        expectSame(found, rankHostsForPod('ada', spec, fleet, strategy).candidates)
      }),
      { numRuns },
    )
  })
})

describe('[PLACE-1] a search judges few hosts in full', () => {
  const [plain] = fc.sample(randomHost, { numRuns: 1, seed: 1 })
  const roomy = { online: true, cordoned: false, diskFull: false, dataCenterId: 'DC-1', cloud: 'SECURE', isolates: true } as const
  const more = { runtimes: ['docker'], runtimeClass: 'runc', vcpuFree: 16, memoryMbFree: 65_536, diskGbFree: 100 } as const
  const gpus = [{ typeId: 'NVIDIA L4', total: 4, free: 4, cudaVersion: '12.8' }]
  const request: PlacementRequest = {
    ...{ teamId: 'ada', runtime: 'docker', dataCenterIds: [], cloud: 'SECURE', diskGb: 10, allowedCudaVersions: [] },
    ...{ minCudaVersion: null, shapes: [{ gpu: { typeId: 'NVIDIA L4', count: 1 }, vcpus: 2, memoryMb: 8_192 }] },
  }
  const manyOf = (change: object, count: number) =>
    Array.from({ length: count }, () => ({
      ...(plain as NonNullable<typeof plain>),
      ...roomy,
      ...more,
      runtimes: [...more.runtimes],
      gpus,
      ...change,
    }))

  test('five hosts are judged when the first five fit, of a thousand', async () => {
    const { reader } = await searchForWorker(toPlacementHosts(manyOf({}, 1_000), ACCOUNTS, null), request)
    expect(reader).toMatchObject({ judged: WANTED, read: 16 })
  })

  test.each([
    ['50', 50, true],
    ['300: the whole fleet is ranked instead', 300, false],
  ])('the hosts behind some that fail a rule of which the index knows nothing are found, for %s', async (_name, failing, isFound) => {
    const fleet = toPlacementHosts([...manyOf({ runtimes: ['process'], vcpuFree: 8 }, failing), ...manyOf({}, 10)], ACCOUNTS, null)
    const { found, reader } = await searchForWorker(fleet, request)
    expectSame(found, rankHosts(request, fleet).candidates)
    expect(found !== null).toBe(isFound)
    expect(reader.judged).toBeLessThanOrEqual(65)
  })

  test('a request with more than 64 classes ranks the whole fleet', async () => {
    const dataCenterIds = Array.from({ length: 40 }, (_, at) => `DC-${at}`)
    const { found, reader } = await searchForWorker(toPlacementHosts(manyOf({}, 3), ACCOUNTS, null), { ...request, dataCenterIds })
    expect([found, reader.judged]).toEqual([null, 0])
  })

  test('a pod is found a host whose share, rounded down, is less than its minimum rounded up', async () => {
    const odd = { vcpuTotal: 4, vcpuFree: 2, gpus: [{ typeId: 'NVIDIA L4', total: 3, free: 3, cudaVersion: '12.8' }] }
    const fleet = toPlacementHosts(manyOf(odd, 1), ACCOUNTS, null)
    const [any] = fc.sample(randomPod, { numRuns: 1, seed: 1 })
    const limits = { allowedCudaVersions: [], minCudaVersion: null, minRamGbPerGpu: null, minVcpuPerGpu: 1.1 }
    const compute = { kind: 'gpu' as const, typeId: 'NVIDIA L4', count: 2, ...limits }
    const container = { image: 'img', args: '', diskGb: 1, env: {}, ports: [], registry: null }
    const spec = { ...(any as NonNullable<typeof any>), compute, container, cloud: 'SECURE' as const, dataCenterIds: [], mounts: {} }
    const alone = { ...spec, globalNetworking: false }
    const judge = (_rank: number, hosts: readonly PlacementHost[]) => rankHostsForPod('ada', alone, hosts, 'pack').candidates
    const search = { classes: classesOfPod('ada', alone), strategy: 'pack' as const, judge }
    expect(await searchHosts(new IndexInMemory(fleet, 'pack'), search, WANTED)).toMatchObject([{ shape: { vcpus: 2 } }])
  })
})
