import { PROPOSED } from '../../contract/defaults.ts'
import type { FlatPodPatch } from '../../contract/flat/bodies.ts'

/** Container fields by their flat and their v2 names (LEG-5). */
const RENAMED = [
  ['imageName', 'image'],
  ['containerDiskInGb', 'disk'],
  ['containerRegistryAuthId', 'registry'],
  ['dockerEntrypoint', 'entrypoint'],
  ['dockerStartCmd', 'cmd'],
  ['env', 'env'],
  ['ports', 'ports'],
] as const

type FlatContainer = Pick<FlatPodPatch, (typeof RENAMED)[number][0]>

/** Container fields of a v2 request. */
export interface ContainerPart {
  image?: string
  /** GB. */
  disk?: number
  registry?: string
  entrypoint?: string[]
  cmd?: string[]
  env?: Record<string, string>
  ports?: string[]
}

/** Container fields of a v2 response. */
export interface ShownContainer {
  image: string
  /** GB. */
  disk: number
  registry: string | null
  entrypoint: string[]
  cmd: string[]
  env: Record<string, string>
  ports: string[]
}

/** Default path of a mount that v1 requests; v2 needs a path. */
export const DEFAULT_MOUNT_PATH: string = PROPOSED.mountPath
/** Minimum size of a persistent mount in v2; v1 allows them from 1 GB on (LEG-6). */
const MIN_PERSISTENT_GB = 10

/** Container fields of a flat body in v2's terms; absent fields stay absent. */
export function containerOf(body: FlatContainer): ContainerPart {
  return Object.fromEntries(RENAMED.flatMap(([from, to]) => (body[from] === undefined ? [] : [[to, body[from]]])))
}

/** Container fields of a v2 resource with flat names. */
export function flatContainer(shown: ShownContainer) {
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

/** A persistent mount of at least `MIN_PERSISTENT_GB`; undefined for a size of 0 (LEG-6). Sizes in GB. */
export function persistentOf(sizeGb: number, path = DEFAULT_MOUNT_PATH): { size: number; path: string } | undefined {
  return sizeGb === 0 ? undefined : { size: Math.max(sizeGb, MIN_PERSISTENT_GB), path }
}

/** Fields with different names in v2 and v1, v2's name first, so that an error names the field that the client sent. */
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

/** A validation error of v2 with its path in v1's terms. */
export function inV1Terms(error: string): string {
  const found = NAMES.find(([v2]) => error.startsWith(`$.${v2}`) && !/^\w/.test(error.slice(v2.length + 2)))
  return found ? `$.${found[1]}${error.slice(found[0].length + 2)}` : error
}
