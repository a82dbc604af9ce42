import type { FlatPodPatch } from '../../contract/flat/bodies.ts'
import type { Pod, UpdatePodRequest } from '../../contract/pods/pods.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { DEFAULT_MOUNT_PATH, persistentOf } from '../flat/container.ts'
import { podPatch } from '../flat/pod-patch.ts'
import { instanceOf, type Mapped } from '../flat/terms.ts'
import { envOf, type FlatEnv, given, itemsOf } from './values.ts'

/** The container fields of an input. Empty strings, nulls and missing fields are ignored (GQL-17). */
export interface ContainerInput {
  name?: string | null
  imageName?: string | null
  dockerArgs?: string | null
  env?: FlatEnv
  ports?: string | null
  containerDiskInGb?: number | null
  volumeInGb?: number | null
  volumeMountPath?: string | null
  containerRegistryAuthId?: string | null
  labels?: FlatEnv
}

/** The input of a new pod. */
export interface DeployInput extends ContainerInput {
  cloudType?: 'ALL' | 'SECURE' | 'COMMUNITY' | null
  gpuTypeId?: string | null
  gpuTypeIdList?: readonly (string | null)[] | null
  gpuCount?: number | null
  instanceId?: string | null
  minVcpuCount?: number | null
  minMemoryInGb?: number | null
  templateId?: string | null
  networkVolumeId?: string | null
  dataCenterId?: string | null
  dataCenterIds?: readonly (string | null)[] | null
  countryCode?: string | null
  compliance?: readonly (string | null)[] | null
  allowedCudaVersions?: readonly (string | null)[] | null
  minCudaVersion?: string | null
  cudaVersion?: string | null
  startSsh?: boolean | null
  startJupyter?: boolean | null
  globalNetwork?: boolean | null
  stopAfter?: string | null
  terminateAfter?: string | null
  objectMounts?: readonly ({ objectStoreId?: string | null; mountPath?: string | null } | null)[] | null
}

/** The name of a pod that is created without one: it need not be unique (GQL-19). */
const DEFAULT_NAME = 'my pod'
/** Upper bound of candidates of one create: each costs a placement. */
const MAX_CANDIDATES = 16

/** The v2 bodies of a create, one for each machine and cloud that would do, best first (GQL-23). The caller checks each as v2 does. */
export function podBodies(input: DeployInput, catalog: Catalog): Mapped<Record<string, unknown>[]> {
  const machines = machinesOf(input)
  if (!machines.ok) return machines
  const places = placesOf(input, catalog)
  if (places?.length === 0) return { ok: false, detail: '$.dataCenterId: no allowed data center has this country and compliance' }
  const { startSsh, startJupyter, globalNetwork, stopAfter, terminateAfter, templateId } = input
  const shared = {
    name: given(input.name) ?? DEFAULT_NAME,
    ...containerBody(input),
    ...mountsOf(input),
    ...(places && { dataCenterIds: places }),
    ...(typeof startSsh === 'boolean' && { startSsh }),
    ...(typeof startJupyter === 'boolean' && { startJupyter }),
    ...(globalNetwork && { globalNetworking: true }),
    ...(stopAfter && { stopAfter }),
    ...(terminateAfter && { terminateAfter }),
    ...(templateId && { templateId }),
    ...labelsOf(input),
  }
  const bodies = cloudsOf(input).flatMap((cloud) => machines.body.map((machine) => ({ ...shared, ...cloud, ...machine })))
  return { ok: true, body: bodies.slice(0, MAX_CANDIDATES) }
}

/** The container fields of a create; a template supplies those that are left out. */
export function containerBody(input: ContainerInput): Record<string, unknown> {
  const ports = itemsOf(input.ports)
  const env = envOf(input.env)
  return {
    ...(input.imageName && { image: input.imageName }),
    ...(input.dockerArgs && { args: input.dockerArgs }),
    ...(env && Object.keys(env).length > 0 && { env }),
    ...(ports.length > 0 && { ports }),
    ...(typeof input.containerDiskInGb === 'number' && { disk: input.containerDiskInGb }),
    ...(input.containerRegistryAuthId && { registry: input.containerRegistryAuthId }),
  }
}

/** All labels of a pod (LBL-2); none are left out, an empty list removes those that the pod has. */
function labelsOf(input: ContainerInput): { labels?: Record<string, string> } {
  const labels = envOf(input.labels)
  return labels ? { labels } : {}
}

/** CPU machines are sold in SECURE only, so `ALL` means SECURE for them. */
function cloudsOf({ cloudType, instanceId }: DeployInput): { cloud?: string }[] {
  if (!cloudType) return [{}]
  if (cloudType !== 'ALL') return [{ cloud: cloudType }]
  return instanceId ? [{ cloud: 'SECURE' }] : [{ cloud: 'SECURE' }, { cloud: 'COMMUNITY' }]
}

function machinesOf(input: DeployInput): Mapped<Record<string, unknown>[]> {
  if (input.instanceId) {
    const cpu = instanceOf(input.instanceId)
    return cpu ? { ok: true, body: [{ cpu }] } : { ok: false, detail: '$.instanceId: want <flavor>-<vCPUs>-<GB>, such as cpu3c-2-4' }
  }
  const types = [input.gpuTypeId, ...(input.gpuTypeIdList ?? [])].flatMap((id) => (id ? [id] : []))
  if (types.length === 0) return { ok: false, detail: '$.gpuTypeId: name a GPU type; the query gpuTypes lists them' }
  const count = input.gpuCount ?? 1
  const each = (whole: number | null | undefined) => (whole && count > 0 ? Math.ceil(whole / count) : undefined)
  const [minRamPerGpu, minVcpuCountPerGpu] = [each(input.minMemoryInGb), each(input.minVcpuCount)]
  const versions = [...(input.allowedCudaVersions ?? []), input.cudaVersion].flatMap((version) => (version ? [version] : []))
  const gpu = {
    count,
    ...(minRamPerGpu && { minRamPerGpu }),
    ...(minVcpuCountPerGpu && { minVcpuCountPerGpu }),
    ...(versions.length > 0 && { allowedCudaVersions: versions }),
    ...(versions.length === 0 && input.minCudaVersion && { minCudaVersion: input.minCudaVersion }),
  }
  return { ok: true, body: [...new Set(types)].map((id) => ({ gpu: { id, ...gpu } })) }
}

function mountsOf({ networkVolumeId, volumeInGb, volumeMountPath, objectMounts }: DeployInput): { mounts?: object } {
  const path = given(volumeMountPath) ?? DEFAULT_MOUNT_PATH
  const global = (objectMounts ?? []).flatMap((mount) => {
    return mount ? [{ volumeId: mount.objectStoreId ?? '', ...(mount.mountPath && { path: mount.mountPath }) }] : []
  })
  const persistent = networkVolumeId ? undefined : persistentOf(volumeInGb ?? 0, path)
  const mounts = {
    ...(networkVolumeId && { network: [{ volumeId: networkVolumeId, path }] }),
    ...(persistent && { persistent }),
    ...(global.length > 0 && { global }),
  }
  return Object.keys(mounts).length > 0 ? { mounts } : {}
}

/**
 * The ids of data centers in the requested countries and with the requested compliance marks, in the requested order; undefined: anywhere.
 */
function placesOf(input: DeployInput, { dataCenters }: Catalog): string[] | undefined {
  const named = [input.dataCenterId, ...(input.dataCenterIds ?? [])].flatMap((id) => itemsOf(id))
  const countries = itemsOf(input.countryCode).map((code) => code.toUpperCase())
  const marks = (input.compliance ?? []).flatMap((mark) => (mark ? [mark] : []))
  if (countries.length === 0 && marks.length === 0) return named.length === 0 ? undefined : [...new Set(named)]
  const fitting = dataCenters.filter(({ country, compliance }) => {
    const isThere = countries.length === 0 || (country !== null && countries.includes(country))
    return isThere && marks.every((mark) => compliance.some((one) => one === mark))
  })
  const ids = fitting.map(({ id }) => id)
  return named.length === 0 ? ids : named.filter((id) => ids.includes(id))
}

/** Whether the result of an edit depends on the pod's current mounts. */
export function needsMounts({ volumeInGb, volumeMountPath }: ContainerInput): boolean {
  return typeof volumeInGb === 'number' || Boolean(volumeMountPath)
}

/**
 * The v2 body of an edit: an empty string clears a field; null and missing fields leave it as it is. `mounts`: the pod's current ones, if
 * `needsMounts`.
 */
export function podEdit(input: ContainerInput, mounts: Pod['mounts']): UpdatePodRequest {
  const { dockerArgs } = input
  return { ...podPatch(flatPatch(input), mounts), ...(typeof dockerArgs === 'string' && { args: dockerArgs }), ...labelsOf(input) }
}

/** A change of a container, with the field names of v1. */
export function flatPatch(input: ContainerInput): FlatPodPatch {
  const { name, imageName, containerDiskInGb, containerRegistryAuthId, ports, volumeInGb, volumeMountPath } = input
  const env = envOf(input.env)
  return {
    ...(name && { name }),
    ...(imageName && { imageName }),
    ...(typeof containerDiskInGb === 'number' && { containerDiskInGb }),
    ...(typeof containerRegistryAuthId === 'string' && { containerRegistryAuthId }),
    ...(typeof ports === 'string' && { ports: itemsOf(ports) }),
    ...(env && { env }),
    ...(typeof volumeInGb === 'number' && { volumeInGb }),
    ...(volumeMountPath && { volumeMountPath }),
  }
}
