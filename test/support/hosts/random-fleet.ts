import fc from 'fast-check'
import type { PlacementHost, PlacementRequest } from '../../../src/domain/host/placement.ts'
import type { PodSpec } from '../../../src/domain/pod/record.ts'

/** Fleets and workloads out of few values, so that hosts are often alike and often just fit. */

/** GPU types, data centers and accounts of a random fleet. */
export const TYPES = ['NVIDIA L4', 'NVIDIA H100 NVL'] as const
const PLACES = ['DC-1', 'DC-2', 'DC-3'] as const

/** A host before it has an id, as both a row and `PlacementHost` are made of it. */
export interface RandomHost {
  online: boolean
  cordoned: boolean
  diskFull: boolean
  dataCenterId: string
  cloud: 'SECURE' | 'COMMUNITY'
  runtimes: readonly string[]
  sharedVolumes: readonly string[] | null
  runtimeClass: 'runc' | 'runsc'
  overlay: 'none' | 'routed'
  /** It takes several accounts at a time. */
  isolates: boolean
  /** Numbers of the accounts with workloads there. */
  holders: number[]
  vcpuTotal: number
  vcpuFree: number
  memoryMbTotal: number
  memoryMbFree: number
  diskGbFree: number
  gpus: { typeId: string; total: number; free: number; cudaVersion: string | null }[]
}

const mostly = (value: boolean) => fc.oneof({ weight: 9, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constant(!value) })
const MB_PER_GB = 1_024

const randomGpu = fc
  .record({
    typeId: fc.constantFrom(...TYPES),
    total: fc.integer({ min: 0, max: 4 }),
    taken: fc.integer({ min: 0, max: 4 }),
    cudaVersion: fc.constantFrom(null, '12.4', '12.8'),
  })
  .map(({ taken, ...gpu }) => ({ ...gpu, free: Math.max(0, gpu.total - taken) }))

/** Any host. */
export const randomHost: fc.Arbitrary<RandomHost> = fc
  .record({
    online: mostly(true),
    cordoned: mostly(false),
    diskFull: mostly(false),
    dataCenterId: fc.constantFrom(...PLACES),
    cloud: fc.constantFrom('SECURE', 'COMMUNITY'),
    runtimes: fc.constantFrom(['docker', 'process'], ['docker', 'process'], ['process']),
    sharedVolumes: fc.constantFrom(null, [], ['network'], ['network', 'global']),
    runtimeClass: fc.constantFrom('runc', 'runsc'),
    overlay: fc.constantFrom('none', 'routed'),
    isolates: fc.boolean(),
    holders: fc.uniqueArray(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }),
    vcpuTotal: fc.constantFrom(2, 4, 8, 16.5),
    vcpuPart: fc.constantFrom(0, 0.1, 0.5, 1, 1),
    memoryGb: fc.constantFrom(4, 16, 64),
    memoryPart: fc.constantFrom(0, 0.5, 1, 1),
    diskGbFree: fc.constantFrom(0, 20, 100, 100),
    gpus: fc.uniqueArray(randomGpu, { maxLength: 2, selector: ({ typeId }) => typeId }),
  })
  .map(({ vcpuPart, memoryGb, memoryPart, ...host }) => ({
    ...host,
    vcpuFree: host.vcpuTotal * vcpuPart,
    memoryMbTotal: memoryGb * MB_PER_GB,
    memoryMbFree: memoryGb * memoryPart * MB_PER_GB,
  }))

/** The hosts of a fleet as placement sees them; `required` is the class that the first account requires. */
export function toPlacementHosts(fleet: readonly RandomHost[], accounts: readonly string[], required: string | null): PlacementHost[] {
  const requiredClasses = new Map(required === null ? [] : [[accounts[0] ?? '', required]])
  return fleet.map(({ isolates, holders, ...host }, at) => ({
    ...host,
    id: idOf(at),
    publicIp: null,
    requiredClasses,
    heldBy: isolates || !host.runtimes.includes('docker') ? null : holders.map((number) => accounts[number] ?? ''),
  }))
}

/** The id of a host in its fleet; the order of ids is not that of the fleet. */
export function idOf(at: number): string {
  return `h${(at * 7) % 1_009}-${at}`
}

const places = fc.uniqueArray(fc.constantFrom(...PLACES), { maxLength: 2 })

/** Any worker of this account. */
export function randomRequest(teamId: string): fc.Arbitrary<PlacementRequest> {
  const gpu = fc.option(fc.record({ typeId: fc.constantFrom(...TYPES), count: fc.integer({ min: 1, max: 3 }) }), { freq: 3 })
  return fc.record({
    teamId: fc.constant(teamId),
    runtime: fc.constantFrom('docker', 'docker', 'process'),
    dataCenterIds: places,
    cloud: fc.constantFrom('SECURE', 'COMMUNITY', 'ALL', 'ALL'),
    diskGb: fc.constantFrom(1, 20, 50),
    allowedCudaVersions: fc.constantFrom<string[]>([], [], ['12.4']),
    minCudaVersion: fc.constantFrom(null, null, '12.6'),
    sharedVolumes: fc.constantFrom([], [], ['network']),
    shapes: fc.array(fc.record({ gpu, vcpus: fc.constantFrom(1, 2, 4), memoryMb: fc.constantFrom(1_024, 8_192, 32_768) }), {
      maxLength: 4,
    }),
  })
}

/** Any pod. */
export const randomPod: fc.Arbitrary<PodSpec> = fc
  .record({
    image: fc.constantFrom('img', 'img', 'builtin/echo'),
    diskGb: fc.constantFrom(1, 20, 50),
    compute: fc.oneof(
      fc.record({
        kind: fc.constant('gpu' as const),
        typeId: fc.constantFrom(...TYPES),
        count: fc.integer({ min: 1, max: 3 }),
        allowedCudaVersions: fc.constantFrom<string[]>([], [], ['12.4']),
        minCudaVersion: fc.constantFrom(null, null, '12.6'),
        minRamGbPerGpu: fc.constantFrom(null, null, 2.7, 8),
        minVcpuPerGpu: fc.constantFrom(null, null, 1.1, 2),
      }),
      fc.record({
        kind: fc.constant('cpu' as const),
        flavorId: fc.constant('cpu3c'),
        vcpuCount: fc.constantFrom(1, 2, 8),
        memoryGb: fc.constantFrom(1, 16),
      }),
    ),
    cloud: fc.constantFrom('SECURE', 'COMMUNITY'),
    dataCenterIds: places,
    isMounting: fc.boolean(),
    globalNetworking: mostly(false),
  })
  .map(({ image, diskGb, isMounting, ...rest }) => ({
    ...rest,
    container: { image, args: '', diskGb, env: {}, ports: [], registry: null },
    mounts: isMounting ? { network: { volumeId: 'v', path: '/data' } } : {},
    onHostLoss: 'WAIT',
  }))
