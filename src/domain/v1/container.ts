import type { V1UpdatePod } from '../../contract/v1/bodies.ts'

/** What v1 calls the members of a container that are the same thing in v2 (LEG-5). */
const RENAMED = [
  ['imageName', 'image'],
  ['containerDiskInGb', 'disk'],
  ['containerRegistryAuthId', 'registry'],
  ['dockerEntrypoint', 'entrypoint'],
  ['dockerStartCmd', 'cmd'],
  ['env', 'env'],
  ['ports', 'ports'],
] as const

type V1Container = Pick<V1UpdatePod, (typeof RENAMED)[number][0]>

/** A container of a request of v2. */
export interface ContainerPart {
  image?: string
  disk?: number
  registry?: string
  entrypoint?: string[]
  cmd?: string[]
  env?: Record<string, string>
  ports?: string[]
}

/** A container of a response of v2. */
export interface ShownContainer {
  image: string
  disk: number
  registry: string | null
  entrypoint: string[]
  cmd: string[]
  env: Record<string, string>
  ports: string[]
}

/** A mount at a path, as v2 takes one, and only where v1 named one. */
export const DEFAULT_MOUNT_PATH = '/workspace'
/** v2 has none that is smaller, and v1 sells them from 1 GB on (LEG-6). */
const MIN_PERSISTENT_GB = 10

/** The container of a body of v1, as v2 takes it; what is left out stays left out. */
export function containerOf(body: V1Container): ContainerPart {
  return Object.fromEntries(RENAMED.flatMap(([from, to]) => (body[from] === undefined ? [] : [[to, body[from]]])))
}

/** The container of a resource of v2, as v1 shows it. */
export function v1Container(shown: ShownContainer) {
  return {
    imageName: shown.image,
    containerDiskInGb: shown.disk,
    containerRegistryAuthId: shown.registry,
    dockerEntrypoint: shown.entrypoint,
    dockerStartCmd: shown.cmd,
    env: shown.env,
    ports: shown.ports,
  }
}

/** A persistent mount of so many GB; none for 0 (LEG-6). */
export function persistentOf(sizeGb: number, path = DEFAULT_MOUNT_PATH): { size: number; path: string } | undefined {
  return sizeGb === 0 ? undefined : { size: Math.max(sizeGb, MIN_PERSISTENT_GB), path }
}

/** Members that v1 and v2 call differently, v2's name first: what is wrong with one is told by the name that was sent. */
const NAMES: readonly (readonly [string, string])[] = [
  ...RENAMED.map(([v1, v2]) => [v2, v1] as const),
  ['mounts.persistent.size', 'volumeInGb'],
  ['mounts.persistent.path', 'volumeMountPath'],
  ['mounts.network[0].path', 'volumeMountPath'],
  ['mounts.network[0].volumeId', 'networkVolumeId'],
  ['gpu.count', 'gpuCount'],
  ['gpu.id', 'gpuTypeIds'],
  ['gpu.allowedCudaVersions', 'allowedCudaVersions'],
  ['gpu.minCudaVersion', 'minCudaVersion'],
  ['gpu.minRamPerGpu', 'minRAMPerGPU'],
  ['gpu.minVcpuCountPerGpu', 'minVCPUPerGPU'],
  ['cpu.vcpuCount', 'vcpuCount'],
  ['cpu.id', 'cpuFlavorIds'],
  ['workers.min', 'workersMin'],
  ['workers.max', 'workersMax'],
  ['workers.idleTimeout', 'idleTimeout'],
  ['scaling.queueDelay', 'scalerValue'],
  ['scaling.requestCount', 'scalerValue'],
  ['timeout', 'executionTimeoutMs'],
  ['networkVolumes', 'networkVolumeIds'],
  ['dataCenter', 'dataCenterId'],
  ['public', 'isPublic'],
  ['serverless', 'isServerless'],
]

/** A failed check of v2 with its place as v1 calls it. */
export function inV1Words(error: string): string {
  const found = NAMES.find(([v2]) => error.startsWith(`$.${v2}`) && !/^\w/.test(error.slice(v2.length + 2)))
  return found ? `$.${found[1]}${error.slice(found[0].length + 2)}` : error
}
