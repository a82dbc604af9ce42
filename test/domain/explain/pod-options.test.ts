import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_OPTIONS } from '../../../src/contract/explain-options.ts'
import { CreatePodRequest } from '../../../src/contract/pods/pods.ts'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { type PodWorld, podOptions } from '../../../src/domain/explain/pod-options.ts'
import { MAX_PROBES, searchOptions } from '../../../src/domain/explain/search.ts'
import type { PlacementHost } from '../../../src/domain/host/placement.ts'
import { rankHostsForPod } from '../../../src/domain/pod/place/placement.ts'
import { type PodReferences, planPod } from '../../../src/domain/pod/request/request.ts'

const TYPES = ['NVIDIA L4', 'NVIDIA RTX A5000', 'NVIDIA H200'] as const
const PLACES = ['EU-RO-1', 'US-KS-2', 'EU-NL-1'] as const
const NOTHING: PodReferences = {
  template: null,
  networkVolume: null,
  hasGlobalVolume: false,
  hasRegistry: false,
  unknownDataCenter: null,
  sshKeys: [],
}

const host = (change: Partial<PlacementHost> = {}): PlacementHost => ({
  id: 'a',
  online: true,
  cordoned: false,
  dataCenterId: 'EU-RO-1',
  cloud: 'SECURE',
  runtimes: ['docker'],
  sharedVolumes: null,
  runtimeClass: 'runc',
  requiredClasses: new Map(),
  heldBy: null,
  overlay: 'none',
  publicIp: null,
  vcpuTotal: 32,
  vcpuFree: 32,
  memoryMbTotal: 131_072,
  memoryMbFree: 131_072,
  diskGbFree: 100,
  gpus: [{ typeId: 'NVIDIA L4', total: 2, free: 2, cudaVersion: '12.8' }],
  ...change,
})
const body = (change: Partial<CreatePodRequest> = {}): CreatePodRequest => ({
  name: 'p',
  image: 'acme/idle:1',
  gpu: { id: 'NVIDIA L4', count: 1 },
  ...change,
})
const world = (hosts: readonly PlacementHost[]): PodWorld => {
  return { teamId: 'ada', catalog: SEED_CATALOG, hosts, references: NOTHING, strategy: 'pack', nowMs: 0 }
}
/** Whether a create would find a place on these hosts. */
const fits = (asked: CreatePodRequest, hosts: readonly PlacementHost[]) => {
  const planned = planPod(SEED_CATALOG, asked, NOTHING, 'x', 0)
  return planned.ok && rankHostsForPod('ada', planned.plan.spec, hosts, 'pack').candidates.length > 0
}
const offered = (asked: CreatePodRequest, hosts: readonly PlacementHost[]) =>
  podOptions(world(hosts), asked).map(({ kind, summary }) => `${kind}: ${summary}`)

describe('[WHY-3] the smallest change of a pod that fits', () => {
  test.each<[string, Partial<CreatePodRequest>, Partial<PlacementHost>, string[]]>([
    ['nothing is missing', {}, {}, []],
    [
      'another GPU',
      {},
      { gpus: [{ typeId: 'NVIDIA RTX A5000', total: 1, free: 1, cudaVersion: null }] },
      ['GPU_TYPE: use NVIDIA RTX A5000'],
    ],
    ['fewer GPUs, as many as there are', { gpu: { id: 'NVIDIA L4', count: 4 } }, {}, ['GPU_COUNT: take 2 GPUs']],
    ['another data center', { dataCenterIds: ['US-KS-2'] }, {}, ['DATA_CENTER: allow data center EU-RO-1 too']],
    ['whose hardware', {}, { cloud: 'COMMUNITY' }, ['CLOUD: use COMMUNITY hardware']],
    ['less disk, as much as there is', { disk: 150 }, {}, ['DISK: take 100 GB of container disk']],
    ['a smaller volume', { disk: 20, mounts: { persistent: { size: 200, path: '/w' } } }, {}, ['VOLUME: take 80 GB of persistent volume']],
    ['less memory', { gpu: { id: 'NVIDIA L4', minRamPerGpu: 100 } }, {}, ['MEMORY: ask for 64 GB of memory for each GPU']],
    ['fewer vCPUs', { gpu: { id: 'NVIDIA L4', minVcpuCountPerGpu: 20 } }, {}, ['VCPU: ask for 16 vCPUs for each GPU']],
    ['any CUDA', { gpu: { id: 'NVIDIA L4', minCudaVersion: '13.0' } }, {}, ['CUDA: take any CUDA version']],
    ['no network between hosts', { globalNetworking: true }, {}, ['GLOBAL_NETWORKING: do without global networking']],
    ['a smaller CPU machine', { gpu: undefined, cpu: { id: 'cpu3c', vcpuCount: 4 } }, { vcpuFree: 3 }, ['CPU_SIZE: use 2 vCPUs of cpu3c']],
    [
      'two changes, where none alone does',
      { disk: 150, gpu: { id: 'NVIDIA L4', count: 3 } },
      {},
      ['TWO_CHANGES: take 2 GPUs and take 100 GB of container disk'],
    ],
    ['nothing: the machine takes no work', {}, { cordoned: true, cloud: 'COMMUNITY' }, []],
    ['nothing: it is offline', {}, { online: false, cloud: 'COMMUNITY' }, []],
    ['nothing: another account is on it', {}, { heldBy: ['bob'], cloud: 'COMMUNITY' }, []],
    ['nothing: three changes would be needed', { disk: 150, dataCenterIds: ['US-KS-2'], gpu: { id: 'NVIDIA L4', count: 3 } }, {}, []],
  ])('%s', (_name, change, machine, expected) => {
    const { gpu, ...rest } = body(change)
    expect(offered(gpu ? { ...rest, gpu } : rest, [host(machine)])).toEqual(expected)
  })

  test('the cheapest first', () => {
    const all = [
      host({ cloud: 'COMMUNITY' }),
      host({ id: 'b', gpus: TYPES.slice(1).map((typeId) => ({ typeId, total: 1, free: 1, cudaVersion: null })) }),
    ]
    const found = podOptions(world(all), body())
    expect(found.map(({ kind }) => kind)).toEqual(['GPU_TYPE', 'CLOUD', 'GPU_TYPE'])
    expect(found.map(({ nanosPerHour }) => nanosPerHour)).toEqual(found.map(({ nanosPerHour }) => nanosPerHour).toSorted((a, b) => a - b))
  })

  const places = fc.constantFrom(...PLACES)
  const machine = fc
    .record({
      online: fc.integer({ max: 9, min: 0 }).map((n) => n > 0),
      cordoned: fc.integer({ max: 9, min: 0 }).map((n) => n === 0),
      dataCenterId: places,
      cloud: fc.constantFrom('SECURE' as const, 'COMMUNITY' as const),
      overlay: fc.constantFrom('none' as const, 'routed' as const),
      heldBy: fc.constantFrom(null, null, [], ['ada'], ['bob']),
      vcpuFree: fc.integer({ min: 8, max: 32 }),
      memoryMbFree: fc.integer({ min: 16_384, max: 131_072 }),
      diskGbFree: fc.integer({ min: 0, max: 250 }),
      gpus: fc.array(
        fc.record({
          typeId: fc.constantFrom(...TYPES),
          total: fc.constant(4),
          free: fc.integer({ min: 0, max: 4 }),
          cudaVersion: fc.constantFrom(null, '12.4', '12.8'),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    })
    .map(host)
  const fleet = fc.array(machine, { maxLength: 8 }).map((hosts) => hosts.map((one, index) => ({ ...one, id: `h${index}` })))
  const asked = fc
    .record({
      gpu: fc.record({ id: fc.constantFrom(...TYPES), count: fc.integer({ min: 1, max: 6 }) }),
      disk: fc.integer({ min: 1, max: 200 }),
      dataCenterIds: fc.uniqueArray(places, { maxLength: 2 }),
      cloud: fc.constantFrom('SECURE' as const, 'COMMUNITY' as const),
      globalNetworking: fc.boolean(),
      volume: fc.option(fc.integer({ min: 10, max: 200 }), { nil: null }),
    })
    .map(({ volume, ...rest }) => body({ ...rest, ...(volume !== null && { mounts: { persistent: { size: volume, path: '/w' } } }) }))

  /** Some single changes, made here by hand. */
  const singles = (wanted: CreatePodRequest): CreatePodRequest[] => [
    ...TYPES.map((id) => ({ ...wanted, gpu: { ...wanted.gpu, id } })),
    ...[1, 2, 3]
      .filter((count) => count < (wanted.gpu?.count ?? 1))
      .map((count) => ({ ...wanted, gpu: { id: TYPES[0], ...wanted.gpu, count } })),
    ...(wanted.dataCenterIds?.length ? PLACES.map((id) => ({ ...wanted, dataCenterIds: [id] })) : []),
    ...(['SECURE', 'COMMUNITY'] as const).map((cloud) => ({ ...wanted, cloud })),
    { ...wanted, globalNetworking: false },
    { ...wanted, disk: 1 },
  ]

  test('every option fits on the same hosts, as a request that the contract accepts; none is missing where one change would do', () => {
    let options = 0
    fc.assert(
      fc.property(asked, fleet, (wanted, hosts) => {
        const found = podOptions(world(hosts), wanted)
        options += found.length
        expect(found.length).toBeLessThanOrEqual(MAX_OPTIONS)
        // A request that is refused regardless of capacity has no options.
        fc.pre(planPod(SEED_CATALOG, wanted, NOTHING, 'x', 0).ok)
        if (fits(wanted, hosts)) expect(found).toEqual([])
        else if (found.length === 0) expect(singles(wanted).filter((one) => fits(one, hosts))).toEqual([])
        for (const option of found) {
          expect(CreatePodRequest.safeParse(option.asked).success).toBe(true)
          expect(fits(option.asked, hosts)).toBe(true)
          expect(option.hostIds.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: 1_000 },
    )
    expect(options).toBeGreaterThan(100)
  })
})

describe('[WHY-9] the cost of a search', () => {
  test('it tries a bounded number of requests', () => {
    let probes = 0
    const ladder = (kind: 'DISK' | 'CUDA' | 'CLOUD') => ({
      kind,
      rungs: Array.from({ length: 50 }, () => ({ summary: 'less', apply: (n: number) => n + 1 })),
    })
    const none = () => {
      probes += 1
      return null
    }
    expect(searchOptions(0, [ladder('DISK'), ladder('CUDA'), ladder('CLOUD')], none)).toEqual([])
    expect(probes).toBe(MAX_PROBES)
  })

  test('a thousand machines of one kind cost as one', () => {
    const hosts = Array.from({ length: 1_000 }, (_, index) => host({ id: `h${index}`, cloud: 'COMMUNITY' }))
    expect(offered(body(), hosts)).toEqual(['CLOUD: use COMMUNITY hardware'])
  })
})
