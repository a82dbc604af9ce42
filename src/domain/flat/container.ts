import { PROPOSED } from '../../contract/defaults.ts'
import type { FlatPodPatch } from '../../contract/flat/bodies.ts'
import type { CreatePodRequest, Pod } from '../../contract/pods/pods.ts'
import { type FieldNames, inTermsOf, SHARED_NAMES } from './terms.ts'

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
export type ContainerPart = Pick<CreatePodRequest, (typeof RENAMED)[number][1]>

/** Container fields of a v2 response. */
export type ShownContainer = Pick<Pod, (typeof RENAMED)[number][1]>

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
const NAMES: FieldNames = [
  ...RENAMED.map(([v1, v2]) => [v2, v1] as const),
  ...SHARED_NAMES,
  ['gpu.id', 'gpuTypeIds'],
  ['gpu.minRamPerGpu', 'minRAMPerGPU'],
  ['gpu.minVcpuCountPerGpu', 'minVCPUPerGPU'],
  ['cpu.vcpuCount', 'vcpuCount'],
  ['cpu.id', 'cpuFlavorIds'],
]

/** A validation error of v2 with its path in v1's terms. */
export function inV1Terms(error: string): string {
  return inTermsOf(NAMES, error)
}
