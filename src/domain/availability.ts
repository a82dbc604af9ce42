import type { Level } from '../contract/catalog/catalog.ts'
import { MIN_MEMBERS } from '../contract/clusters/clusters.ts'
import type { Cloud } from '../contract/enums.ts'
import { type Catalog, findGpuType } from './catalog/catalog.ts'
import { DEFAULT_WORKER_DISK_GB } from './endpoint/config.ts'
import { type ComputeShape, type PlacementHost, rankHosts } from './host/placement.ts'
import { podDiskGb, rankHostsForPod } from './pod/place/placement.ts'
import type { PodSpec } from './pod/record.ts'
import { cpuCompute, gpuCompute } from './pod/request/compute.ts'
import { DEFAULT_POD_DISK_GB } from './pod/request/container.ts'
import { type PlacedConfig, placementRequestOf } from './worker/shape.ts'

// Counts how many more workloads would fit, by repeated placement with the same functions that place workloads (CAT-7, CAT-12).

/** The number of placements from which a level is the highest. */
export const MOST_COUNTED = 16
const MEDIUM_FROM = 4

/** The capacity that one placement takes from a host. */
interface Taken {
  shape: ComputeShape
  diskGb: number
}

/** Returns the capacity that the next placement would take from a host; null: it does not fit there. */
export type Placer = (host: PlacementHost) => Taken | null

/** The team that asks, and the GPUs of the pod or worker that it asks for. */
export interface GpuAsked {
  teamId: string
  typeId: string
  count: number
  cloud: Cloud
  cudaVersions: readonly string[]
  minCudaVersion: string | null
  needs?: PodNeeds
}

/** The needs of a pod as a whole, beside its GPUs (GQL-44). */
export interface PodNeeds {
  vcpus?: number
  memoryGb?: number
  /** Container disk and persistent volume together. */
  diskGb?: number
  globalNetworking?: boolean
}

/** The image of each container that is placed to count; any name will do. */
const IMAGE = 'image'

/** The level for a number of placements (CAT-7). */
export function levelOf(placements: number): Level {
  if (placements >= MOST_COUNTED) return 'HIGH'
  if (placements >= MEDIUM_FROM) return 'MEDIUM'
  return placements > 0 ? 'LOW' : 'NONE'
}

/** Places pods with these GPUs; null if a create would be refused even with enough capacity. */
export function gpuPodPlacer(
  catalog: Catalog,
  { teamId, typeId, count, cloud, cudaVersions, minCudaVersion, needs = {} }: GpuAsked,
): Placer | null {
  const cuda = minCudaVersion === null ? { allowedCudaVersions: [...cudaVersions] } : { minCudaVersion }
  const least = {
    ...(needs.vcpus && { minVcpuCountPerGpu: Math.ceil(needs.vcpus / count) }),
    ...(needs.memoryGb && { minRamPerGpu: Math.ceil(needs.memoryGb / count) }),
  }
  const computed = gpuCompute(catalog, { id: typeId, count, ...cuda, ...least }, cloud, [])
  return computed.ok ? podPlacer(teamId, computed.compute, cloud, needs) : null
}

/** Places CPU pods of that size, which are sold in SECURE only; null if a create would be refused even with enough capacity. */
export function cpuPodPlacer(catalog: Catalog, teamId: string, flavorId: string, vcpuCount: number): Placer | null {
  const computed = cpuCompute(catalog, { id: flavorId, vcpuCount }, 'SECURE')
  return computed.ok ? podPlacer(teamId, computed.compute, 'SECURE') : null
}

/**
 * Places workers of an endpoint that asks for the pool of the type and excludes its other types; null for a type without a pool, or for
 * more GPUs than one worker may have.
 */
export function gpuWorkerPlacer(catalog: Catalog, { teamId, typeId, count, cloud, cudaVersions, minCudaVersion }: GpuAsked): Placer | null {
  const type = findGpuType(catalog, typeId)
  if (!type?.pool || count > type.maxCount) return null
  const others = catalog.gpuTypes.filter(({ id, pool }) => pool === type.pool && id !== typeId)
  return workerPlacer(catalog, teamId, cloud, {
    kind: 'gpu',
    pools: [type.pool],
    excludedTypes: others.map(({ id }) => id),
    count,
    allowedCudaVersions: [...cudaVersions],
    minCudaVersion,
  })
}

/** Places workers on CPU machines of that size, in SECURE, the default cloud of endpoints; null if a create would be refused. */
export function cpuWorkerPlacer(catalog: Catalog, teamId: string, flavorId: string, vcpuCount: number): Placer | null {
  if (!cpuCompute(catalog, { id: flavorId, vcpuCount }, 'SECURE').ok) return null
  return workerPlacer(catalog, teamId, 'SECURE', { kind: 'cpu', options: [{ id: flavorId, vcpuCount }] })
}

/** The number of placements that fit on one host one after another, at most `most`. */
export function countPlacements(place: Placer, host: PlacementHost, most: number): number {
  let left = host
  for (let placed = 0; placed < most; placed += 1) {
    const taken = place(left)
    if (taken === null) return placed
    left = without(left, taken)
  }
  return most
}

/** The host with the free capacity that a placement leaves. */
export function without(host: PlacementHost, { shape, diskGb }: Taken): PlacementHost {
  const { gpu, vcpus, memoryMb } = shape
  return {
    ...host,
    vcpuFree: host.vcpuFree - vcpus,
    memoryMbFree: host.memoryMbFree - memoryMb,
    diskGbFree: host.diskGbFree - diskGb,
    ...(host.diskUse && { diskUse: { ...host.diskUse, heldGb: host.diskUse.heldGb + diskGb } }),
    gpus: host.gpus.map((one) => (one.typeId === gpu?.typeId ? { ...one, free: one.free - gpu.count } : one)),
  }
}

/** The number of placements that fit, in total and by data center. */
export interface Room {
  /** The sum over data centers, each counted up to `most`. */
  placements: number
  byDataCenter: ReadonlyMap<string, number>
  /** The CUDA versions of hosts on which one fits. */
  cudaVersions: ReadonlySet<string>
}

const NO_ROOM: Room = { placements: 0, byDataCenter: new Map(), cudaVersions: new Set() }

/** Counts the placements on these hosts. Once `most` fit in a data center, only its hosts with another CUDA version are examined. */
export function findRoom(place: Placer | null, hosts: readonly PlacementHost[], typeId: string | null, most = MOST_COUNTED): Room {
  if (place === null) return NO_ROOM
  const byDataCenter = new Map<string, number>()
  const cudaVersions = new Set<string>()
  for (const host of hosts) {
    const found = byDataCenter.get(host.dataCenterId) ?? 0
    const version = cudaOf(host, typeId)
    const isNewVersion = version !== null && !cudaVersions.has(version)
    if (found >= most && !isNewVersion) continue
    const placed = countPlacements(place, host, Math.max(1, most - found))
    if (placed === 0) continue
    byDataCenter.set(host.dataCenterId, Math.min(most, found + placed))
    if (version !== null) cudaVersions.add(version)
  }
  return { placements: [...byDataCenter.values()].reduce((sum, one) => sum + one, 0), byDataCenter, cudaVersions }
}

/** Counts cluster members: on hosts with private networks, in data centers with room for `MIN_MEMBERS` or more (CAT-14). */
export function findClusterRoom(catalog: Catalog, hosts: readonly PlacementHost[], asked: GpuAsked): Room {
  const networked = hosts.filter(({ overlay }) => overlay === 'routed' || overlay === 'local')
  const { byDataCenter, cudaVersions } = findRoom(gpuPodPlacer(catalog, asked), networked, asked.typeId)
  const roomy = new Map([...byDataCenter].filter(([, members]) => members >= MIN_MEMBERS))
  const placements = [...roomy.values()].reduce((sum, one) => sum + one, 0)
  return placements === 0 ? NO_ROOM : { placements, byDataCenter: roomy, cudaVersions }
}

/** The maximum of several counts, for each data center by itself. */
export function bestRoom(rooms: readonly Room[]): Room {
  const ids = new Set(rooms.flatMap(({ byDataCenter }) => [...byDataCenter.keys()]))
  const best = (id: string) => Math.max(...rooms.map(({ byDataCenter }) => byDataCenter.get(id) ?? 0))
  return {
    placements: Math.max(0, ...rooms.map(({ placements }) => placements)),
    byDataCenter: new Map([...ids].map((id) => [id, best(id)])),
    cudaVersions: new Set(rooms.flatMap(({ cudaVersions }) => [...cudaVersions])),
  }
}

/** The CUDA version that a host reports for a type of GPU. */
export function cudaOf({ gpus }: PlacementHost, typeId: string | null): string | null {
  return gpus.find((gpu) => gpu.typeId === typeId)?.cudaVersion ?? null
}

function podPlacer(teamId: string, compute: PodSpec['compute'], cloud: Cloud, needs: PodNeeds = {}): Placer {
  const spec: PodSpec = {
    container: { image: IMAGE, args: '', diskGb: needs.diskGb ?? DEFAULT_POD_DISK_GB, env: {}, ports: [], registry: null },
    compute,
    cloud,
    dataCenterIds: [],
    mounts: {},
    globalNetworking: needs.globalNetworking ?? false,
    onHostLoss: 'WAIT',
  }
  const diskGb = podDiskGb(spec)
  return (host) => {
    const [candidate] = rankHostsForPod(teamId, spec, [host], 'pack').candidates
    return candidate ? { shape: candidate.shape, diskGb } : null
  }
}

function workerPlacer(catalog: Catalog, teamId: string, cloud: Cloud, compute: PlacedConfig['compute']): Placer {
  const container = { image: IMAGE, diskGb: DEFAULT_WORKER_DISK_GB }
  const request = placementRequestOf(catalog, { teamId, cloud, compute, container, dataCenterIds: [] })
  return (host) => {
    const [candidate] = rankHosts(request, [host]).candidates
    return candidate ? { shape: candidate.shape, diskGb: request.diskGb } : null
  }
}
