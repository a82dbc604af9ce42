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

// How many more would fit: found by placing again and again, with the very functions that place (CAT-7, CAT-12).

/** Placements from which on a level is the highest. */
export const MOST_COUNTED = 16
const MEDIUM_FROM = 4

/** What one placement takes from a host. */
interface Taken {
  shape: ComputeShape
  diskGb: number
}

/** What the next placement would take from a host; null: it does not fit there. */
export type Placer = (host: PlacementHost) => Taken | null

/** Who asks, and for how large a pod or worker with GPUs. */
export interface GpuAsked {
  teamId: string
  typeId: string
  count: number
  cloud: Cloud
  cudaVersions: readonly string[]
  minCudaVersion: string | null
  needs?: PodNeeds
}

/** What a pod is to have beside its GPUs, as a whole (GQL-44). */
export interface PodNeeds {
  vcpus?: number
  memoryGb?: number
  /** Container and persistent volume together. */
  diskGb?: number
  globalNetworking?: boolean
}

/** What is placed is a container of this image, with the disk that one has when nobody says. */
const IMAGE = 'image'

/** The level for a number of placements (CAT-7). */
export function levelOf(placements: number): Level {
  if (placements >= MOST_COUNTED) return 'HIGH'
  if (placements >= MEDIUM_FROM) return 'MEDIUM'
  return placements > 0 ? 'LOW' : 'NONE'
}

/** Pods with these GPUs; null when a create would be refused wherever there is room. */
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

/** CPU pods of that size, which are sold in SECURE only; null when a create would be refused wherever there is room. */
export function cpuPodPlacer(catalog: Catalog, teamId: string, flavorId: string, vcpuCount: number): Placer | null {
  const computed = cpuCompute(catalog, { id: flavorId, vcpuCount }, 'SECURE')
  return computed.ok ? podPlacer(teamId, computed.compute, 'SECURE') : null
}

/** Workers of an endpoint that asks for the pool of the type, with nothing else of that pool; null for a type without a pool. */
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

/** Workers on CPU machines of that size, in SECURE, which is what an endpoint has that names no cloud. */
export function cpuWorkerPlacer(catalog: Catalog, teamId: string, flavorId: string, vcpuCount: number): Placer | null {
  if (!cpuCompute(catalog, { id: flavorId, vcpuCount }, 'SECURE').ok) return null
  return workerPlacer(catalog, teamId, 'SECURE', { kind: 'cpu', options: [{ id: flavorId, vcpuCount }] })
}

/** Placements one after another on one host, at most `most`. */
export function countPlacements(place: Placer, host: PlacementHost, most: number): number {
  let left = host
  for (let placed = 0; placed < most; placed += 1) {
    const taken = place(left)
    if (taken === null) return placed
    left = without(left, taken)
  }
  return most
}

/** A host after a placement. */
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

/** Where how many fit. */
export interface Room {
  /** Placements, each data center counted up to `most`. */
  placements: number
  byDataCenter: ReadonlyMap<string, number>
  /** Of the hosts on which one fits. */
  cudaVersions: ReadonlySet<string>
}

const NO_ROOM: Room = { placements: 0, byDataCenter: new Map(), cudaVersions: new Set() }

/** How many fit on these hosts. A data center in which `most` fit is not looked at further, unless a host there has another CUDA version. */
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

/** Members of clusters: on hosts with private networks, in data centers with room for the fewest that a cluster has (CAT-14). */
export function findClusterRoom(catalog: Catalog, hosts: readonly PlacementHost[], asked: GpuAsked): Room {
  const networked = hosts.filter(({ overlay }) => overlay === 'routed' || overlay === 'local')
  const { byDataCenter, cudaVersions } = findRoom(gpuPodPlacer(catalog, asked), networked, asked.typeId)
  const roomy = new Map([...byDataCenter].filter(([, members]) => members >= MIN_MEMBERS))
  const placements = [...roomy.values()].reduce((sum, one) => sum + one, 0)
  return placements === 0 ? NO_ROOM : { placements, byDataCenter: roomy, cudaVersions }
}

/** The better of several kinds of work, each place by itself. */
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
