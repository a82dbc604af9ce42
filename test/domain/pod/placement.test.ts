import { describe, expect, test } from 'vitest'
import type { PlacementHost } from '../../../src/domain/host/placement.ts'
import { findMissingVolumes, podDiskGb, rankHostsForPod } from '../../../src/domain/pod/place/placement.ts'
import type { PodGpu, PodSpec } from '../../../src/domain/pod/record.ts'

const L4 = 'NVIDIA L4'

function makeHost(
  change: Partial<PlacementHost> = {},
  l4: { total: number; free: number; cudaVersion?: string | null } = { total: 4, free: 4 },
): PlacementHost {
  return {
    id: 'h1',
    online: true,
    cordoned: false,
    publicIp: null,
    dataCenterId: 'DC-1',
    cloud: 'SECURE',
    runtimes: ['docker', 'process'],
    sharedVolumes: ['network', 'global'],
    runtimeClass: 'runc',
    requiredClasses: new Map(),
    heldBy: null,
    vcpuTotal: 32,
    vcpuFree: 32,
    memoryMbTotal: 131_072,
    memoryMbFree: 131_072,
    diskGbFree: 100,
    gpus: [{ typeId: L4, cudaVersion: '12.8', ...l4 }],
    ...change,
  }
}

function gpuSpec(gpu: Partial<PodGpu> = {}, change: Partial<PodSpec> = {}): PodSpec {
  return {
    container: { image: 'img', args: '', diskGb: 10, env: {}, ports: [], registry: null },
    compute: {
      kind: 'gpu',
      typeId: L4,
      count: 1,
      allowedCudaVersions: [],
      minCudaVersion: null,
      minRamGbPerGpu: null,
      minVcpuPerGpu: null,
      ...gpu,
    },
    cloud: 'SECURE',
    dataCenterIds: [],
    mounts: {},
    globalNetworking: false,
    onHostLoss: 'WAIT',
    ...change,
  }
}

const cpuSpec = (vcpuCount: number, memoryGb: number): PodSpec => ({
  ...gpuSpec(),
  compute: { kind: 'cpu', flavorId: 'cpu3c', vcpuCount, memoryGb },
})
const hostsOf = (spec: PodSpec, hosts: PlacementHost[], strategy: 'pack' | 'spread' = 'pack') =>
  rankHostsForPod('ada', spec, hosts, strategy).candidates.map(({ hostId }) => hostId)
const refusalOf = (spec: PodSpec, host: PlacementHost) => rankHostsForPod('ada', spec, [host], 'pack').refusals[0]?.failed ?? null
const shapeOf = (spec: PodSpec, host: PlacementHost) => rankHostsForPod('ada', spec, [host], 'pack').candidates[0]?.shape

describe('order', () => {
  const full = makeHost({ id: 'full' }, { total: 4, free: 1 })
  const half = makeHost({ id: 'half' }, { total: 4, free: 2 })
  const empty = makeHost({ id: 'empty' }, { total: 4, free: 4 })

  test('[POD-3] pack fills the fullest that fits, spread takes the emptiest', () => {
    expect(hostsOf(gpuSpec(), [empty, full, half])).toEqual(['full', 'half', 'empty'])
    expect(hostsOf(gpuSpec(), [half, full, empty], 'spread')).toEqual(['empty', 'half', 'full'])
    expect(hostsOf(gpuSpec({ count: 2 }), [empty, full, half])).toEqual(['half', 'empty'])
  })

  test.each(['pack', 'spread'] as const)('[POD-3] the first data center with room comes first, whatever the strategy: %s', (strategy) => {
    const far = makeHost({ id: 'far', dataCenterId: 'DC-2' }, { total: 4, free: 1 })
    const farEmpty = makeHost({ id: 'far-empty', dataCenterId: 'DC-2' })
    const spec = gpuSpec({}, { dataCenterIds: ['DC-2', 'DC-1'] })
    const order = hostsOf(spec, [full, farEmpty, empty, far], strategy)
    expect(order).toEqual(strategy === 'pack' ? ['far', 'far-empty', 'full', 'empty'] : ['far-empty', 'far', 'empty', 'full'])
    expect(refusalOf(gpuSpec({}, { dataCenterIds: ['DC-2', 'DC-3'] }), full)).toEqual(['dataCenter: DC-2|DC-3 > DC-1'])
  })

  test('[PLACE-1] between hosts that are alike the id decides, and one order is the other reversed', () => {
    const [a, b] = [makeHost({ id: 'a' }), makeHost({ id: 'b' })]
    expect(hostsOf(gpuSpec(), [b, a], 'pack')).toEqual(['a', 'b'])
    expect(hostsOf(gpuSpec(), [a, b], 'spread')).toEqual(['b', 'a'])
  })

  test('[PLACE-1] GPUs count before vCPUs, however many these are, and what the pod takes does not count', () => {
    const manyCpus = makeHost({ id: 'a', vcpuTotal: 4_000, vcpuFree: 4_000 }, { total: 4, free: 2 })
    expect(hostsOf(gpuSpec(), [empty, manyCpus])).toEqual(['a', 'empty'])
    const fewer = makeHost({ id: 'b', vcpuTotal: 32, vcpuFree: 30 })
    const more = makeHost({ id: 'a', vcpuTotal: 64, vcpuFree: 31 })
    expect(hostsOf(gpuSpec(), [more, fewer])).toEqual(['b', 'a'])
  })

  test('[POD-10] a pod is not spread over hosts, and no other type of GPU is tried', () => {
    expect(hostsOf(gpuSpec({ count: 2 }), [full, makeHost({ id: 'other' }, { total: 4, free: 1 })])).toEqual([])
    expect(refusalOf(gpuSpec({ typeId: 'NVIDIA A40' }), empty)).toEqual(['gpu NVIDIA A40: 1 > 0'])
  })
})

const NETWORK = { network: { volumeId: 'v', path: '/data' } }
const GLOBAL = { global: { volumeId: 'g', path: '/models' } }

describe('the constraints that do not fit are named', () => {
  test.each<[string, PodSpec, Partial<PlacementHost>, string[]]>([
    ['offline', gpuSpec(), { online: false }, ['status: ONLINE > OFFLINE']],
    ['cloud', gpuSpec({}, { cloud: 'COMMUNITY' }), {}, ['cloud: COMMUNITY > SECURE']],
    ['runtime', gpuSpec(), { runtimes: ['process'] }, ['runtime: docker > process']],
    ['disk', gpuSpec(), { diskGbFree: 9 }, ['diskGb: 10 > 9']],
    ['network volumes', gpuSpec({}, { mounts: NETWORK }), { sharedVolumes: ['global'] }, ['networkVolumes: yes > none']],
    ['global volumes', gpuSpec({}, { mounts: GLOBAL }), { sharedVolumes: ['network'] }, ['globalVolumes: yes > none']],
    ['cuda floor', gpuSpec({ minCudaVersion: '12.11' }), {}, ['cuda: 12.11 > 12.8']],
    ['cuda set', gpuSpec({ allowedCudaVersions: ['12.4', '12.6'] }), {}, ['cuda: 12.4|12.6 > 12.8']],
    ['vCPUs of a GPU', gpuSpec({ minVcpuPerGpu: 9 }), {}, ['vcpuPerGpu: 9 > 8']],
    ['memory of a GPU', gpuSpec({ minRamGbPerGpu: 33 }), {}, ['memoryMbPerGpu: 33792 > 32768']],
    ['vCPUs of a CPU pod', cpuSpec(8, 16), { vcpuFree: 7 }, ['vcpu: 8 > 7']],
    ['memory of a CPU pod', cpuSpec(8, 16), { memoryMbFree: 16_383 }, ['memoryMb: 16384 > 16383']],
  ])('%s', (_, spec, change, failed) => {
    expect(refusalOf(spec, makeHost(change))).toEqual(failed)
  })

  test('[HOST-54] volumes: a host that has the kinds fits, one whose agent does not report them is tried', () => {
    const spec = gpuSpec({}, { mounts: { ...NETWORK, ...GLOBAL } })
    expect(refusalOf(spec, makeHost())).toBeNull()
    expect(refusalOf(spec, makeHost({ sharedVolumes: null }))).toBeNull()
    expect(refusalOf(spec, makeHost({ sharedVolumes: [] }))).toEqual(['networkVolumes: yes > none', 'globalVolumes: yes > none'])
    expect(refusalOf(gpuSpec(), makeHost({ sharedVolumes: [] }))).toBeNull()
  })

  test.each<[string, Partial<PodSpec>, PlacementHost[], ReturnType<typeof findMissingVolumes>]>([
    ['no mounts', {}, [makeHost({ sharedVolumes: [] })], null],
    ['a host has them', { mounts: NETWORK }, [makeHost({ sharedVolumes: [] }), makeHost({ sharedVolumes: ['network'] })], null],
    ['a host does not say', { mounts: NETWORK }, [makeHost({ sharedVolumes: [] }), makeHost({ sharedVolumes: null })], null],
    ['there is no host', { mounts: NETWORK }, [], null],
    ['none has them', { mounts: NETWORK }, [makeHost({ sharedVolumes: ['global'] })], { kind: 'network', dataCenterIds: [] }],
    ['a full one has them', { mounts: GLOBAL }, [makeHost({ sharedVolumes: ['global'], vcpuFree: 0 })], null],
    [
      'another data center has them',
      { mounts: { ...NETWORK, ...GLOBAL }, dataCenterIds: ['A'] },
      [makeHost({ dataCenterId: 'A', sharedVolumes: ['network'] }), makeHost({ dataCenterId: 'B' })],
      { kind: 'global', dataCenterIds: ['A'] },
    ],
  ])('[POD-36] volumes that no host offers, where %s', (_, change, hosts, missing) => {
    expect(findMissingVolumes(gpuSpec({}, change), hosts)).toEqual(missing)
  })

  test('[POD-9] the disk of the container and the persistent volume count together', () => {
    const spec = gpuSpec({}, { mounts: { persistent: { sizeGb: 90, path: '/workspace' } } })
    expect(podDiskGb(spec)).toBe(100)
    expect(refusalOf(spec, makeHost({ diskGbFree: 100 }))).toBeNull()
    expect(refusalOf(spec, makeHost({ diskGbFree: 99 }))).toEqual(['diskGb: 100 > 99'])
  })
})

describe('[POD-33] the CPUs and memory that come with a GPU', () => {
  test('are its share of the host: of all its GPUs, whatever their type', () => {
    expect(shapeOf(gpuSpec(), makeHost())).toEqual({ gpu: { typeId: L4, count: 1 }, vcpus: 8, memoryMb: 32_768 })
    expect(shapeOf(gpuSpec({ count: 3 }), makeHost())).toMatchObject({ vcpus: 24, memoryMb: 98_304 })
    const mixed = makeHost({
      gpus: [
        { typeId: L4, total: 2, free: 2, cudaVersion: '12.4' },
        { typeId: 'NVIDIA A40', total: 6, free: 6, cudaVersion: '12.8' },
      ],
    })
    expect(shapeOf(gpuSpec(), mixed)).toMatchObject({ vcpus: 4, memoryMb: 16_384 })
    expect(rankHostsForPod('ada', gpuSpec(), [mixed], 'pack').candidates[0]).toMatchObject({ cudaVersion: '12.4', dataCenterId: 'DC-1' })
  })

  test.each([
    { vcpuFree: 9, vcpus: 8 },
    { vcpuFree: 8, vcpus: 8 },
    { vcpuFree: 7, vcpus: 7 },
    { vcpuFree: 4.9, vcpus: 4 },
    { vcpuFree: 4, vcpus: 4 },
    { vcpuFree: 3, vcpus: null },
  ])('are the rest of that share, at least half: $vcpuFree vCPUs free', ({ vcpuFree, vcpus }) => {
    const host = makeHost({ vcpuFree })
    if (vcpus === null) expect(refusalOf(gpuSpec(), host)).toEqual(['vcpu: 4 > 3'])
    else expect(shapeOf(gpuSpec(), host)?.vcpus).toBe(vcpus)
  })

  test.each([
    { memoryMbFree: 32_767, memoryMb: 32_767 },
    { memoryMbFree: 16_384, memoryMb: 16_384 },
    { memoryMbFree: 16_383, memoryMb: null },
  ])('are the same for memory: $memoryMbFree MB free', ({ memoryMbFree, memoryMb }) => {
    const host = makeHost({ memoryMbFree })
    if (memoryMb === null) expect(refusalOf(gpuSpec(), host)).toEqual(['memoryMb: 16384 > 16383'])
    else expect(shapeOf(gpuSpec(), host)?.memoryMb).toBe(memoryMb)
  })

  test('are at least the requested amount instead of the half', () => {
    expect(shapeOf(gpuSpec({ minVcpuPerGpu: 2 }), makeHost({ vcpuFree: 3 }))?.vcpus).toBe(3)
    expect(refusalOf(gpuSpec({ minVcpuPerGpu: 2, count: 2 }), makeHost({ vcpuFree: 3 }))).toEqual(['vcpu: 4 > 3'])
    expect(shapeOf(gpuSpec({ minVcpuPerGpu: 8 }), makeHost({ vcpuFree: 8 }))?.vcpus).toBe(8)
    expect(refusalOf(gpuSpec({ minVcpuPerGpu: 8 }), makeHost({ vcpuFree: 7 }))).toEqual(['vcpu: 8 > 7'])
    expect(shapeOf(gpuSpec({ minRamGbPerGpu: 32 }), makeHost())?.memoryMb).toBe(32_768)
  })

  test('are whole vCPUs and at least one, on the smallest host too', () => {
    expect(shapeOf(gpuSpec(), makeHost({ vcpuTotal: 10, vcpuFree: 10 }))?.vcpus).toBe(2)
    expect(shapeOf(gpuSpec({ count: 3 }), makeHost({ vcpuTotal: 10, vcpuFree: 10 }))?.vcpus).toBe(7)
    expect(shapeOf(gpuSpec(), makeHost({ vcpuTotal: 2, vcpuFree: 2 }))?.vcpus).toBe(1)
  })

  test('are for a CPU pod exactly its size, also on a machine with GPUs', () => {
    expect(shapeOf(cpuSpec(8, 16), makeHost({ vcpuFree: 8, memoryMbFree: 16_384 }))).toEqual({ gpu: null, vcpus: 8, memoryMb: 16_384 })
    expect(rankHostsForPod('ada', cpuSpec(2, 4), [makeHost()], 'pack').candidates[0]?.cudaVersion).toBeNull()
  })
})
