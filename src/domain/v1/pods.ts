import type { CreatePodRequest, Pod } from '../../contract/pods/pods.ts'
import type { V1CreatePod } from '../../contract/v1/bodies.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type ContainerPart, containerOf, DEFAULT_MOUNT_PATH, flatContainer, persistentOf } from '../flat/container.ts'
import { DESIRED } from '../flat/pod-status.ts'
import { gpuName } from './gpu-pools.ts'

/** Defaults of a v1 create (LEG-6). */
const DEFAULTS = {
  name: 'my pod',
  diskGb: 50,
  volumeGb: 20,
  ports: ['8888/http', '22/tcp'],
  gpuCount: 1,
  vcpuCount: 2,
  minRam: 8,
  minVcpus: 2,
}
/** Cheapest first. */
const CPU_FLAVORS = ['cpu3c', 'cpu3g', 'cpu5c', 'cpu5g', 'cpu3m', 'cpu5m']
/** Container disk of a CPU machine for each of its vCPUs, GB. */
const CPU_DISK_GB_PER_VCPU = 10

/** v2 bodies for one v1 create, one for each acceptable GPU type or CPU flavor, best first. */
export type PodCandidates = { ok: true; bodies: CreatePodRequest[] } | { ok: false; detail: string }

/** v2 bodies for a v1 create (LEG-6), or why it is refused. */
export function podCandidates(body: V1CreatePod, catalog: Catalog): PodCandidates {
  const isCpu = (body.computeType ?? (body.cpuFlavorIds ? 'CPU' : 'GPU')) === 'CPU'
  if (!isCpu && !body.gpuTypeIds?.length) {
    return { ok: false, detail: '$.gpuTypeIds: list the GPU types in order of preference, or set computeType to CPU' }
  }
  const places = placesOf(body, catalog)
  if (places?.length === 0) return { ok: false, detail: '$.countryCodes: no data center of dataCenterIds is in these countries' }
  const shared = {
    name: body.name ?? DEFAULTS.name,
    ...containerWithDefaults(body, isCpu),
    ...mountsOf(body, isCpu),
    ...(body.cloudType && { cloud: body.cloudType }),
    ...(places && { dataCenterIds: [...places] }),
    ...(body.globalNetworking !== undefined && { globalNetworking: body.globalNetworking }),
    ...(body.templateId && { templateId: body.templateId }),
    startSsh: true,
  }
  const machines = isCpu ? cpusOf(body) : gpusOf(body)
  return { ok: true, bodies: machines.map((machine) => ({ ...shared, ...machine })) }
}

function placesOf(body: V1CreatePod, catalog: Catalog): readonly string[] | undefined {
  const { countryCodes = [], dataCenterIds = [] } = body
  if (countryCodes.length === 0) return dataCenterIds.length === 0 ? undefined : dataCenterIds
  const there = catalog.dataCenters.filter(({ country }) => country !== null && countryCodes.includes(country)).map(({ id }) => id)
  return dataCenterIds.length === 0 ? there : dataCenterIds.filter((id) => there.includes(id))
}

/** With a template, v1's defaults are not applied, because the template fills absent fields. */
function containerWithDefaults(body: V1CreatePod, isCpu: boolean): ContainerPart {
  const given = containerOf(body)
  if (body.templateId) return given
  const disk = isCpu ? Math.min(DEFAULTS.diskGb, CPU_DISK_GB_PER_VCPU * (body.vcpuCount ?? DEFAULTS.vcpuCount)) : DEFAULTS.diskGb
  return { disk, ports: DEFAULTS.ports, ...given }
}

function mountsOf(body: V1CreatePod, isCpu: boolean): Pick<CreatePodRequest, 'mounts'> {
  const path = body.volumeMountPath ?? DEFAULT_MOUNT_PATH
  if (body.networkVolumeId) return { mounts: { network: [{ volumeId: body.networkVolumeId, path }] } }
  const defaultGb = isCpu || body.templateId ? 0 : DEFAULTS.volumeGb
  const persistent = persistentOf(body.volumeInGb ?? defaultGb, path)
  return persistent ? { mounts: { persistent } } : {}
}

function gpusOf(body: V1CreatePod): Pick<CreatePodRequest, 'gpu'>[] {
  const each = {
    count: body.gpuCount ?? DEFAULTS.gpuCount,
    minRamPerGpu: body.minRAMPerGPU ?? DEFAULTS.minRam,
    minVcpuCountPerGpu: body.minVCPUPerGPU ?? DEFAULTS.minVcpus,
    ...(body.allowedCudaVersions?.length && { allowedCudaVersions: body.allowedCudaVersions }),
  }
  return (body.gpuTypeIds ?? []).map((id) => ({ gpu: { id, ...each } }))
}

function cpusOf({ cpuFlavorIds, vcpuCount = DEFAULTS.vcpuCount }: V1CreatePod): Pick<CreatePodRequest, 'cpu'>[] {
  const flavors = cpuFlavorIds?.length ? cpuFlavorIds : CPU_FLAVORS
  return flavors.map((id) => ({ cpu: { id, vcpuCount } }))
}

/** A pod as v1 shows it (LEG-7): whole numbers without decimals, maps and lists never null, unknown values null. */
export function v1Pod(pod: Pod, catalog: Catalog) {
  const { persistent, network } = pod.mounts
  const { gpu, cpu } = pod
  const mapped = (pod.runtime?.ports ?? []).filter(({ type, public: port }) => type === 'tcp' && port !== null)
  return {
    id: pod.id,
    name: pod.name,
    desiredStatus: DESIRED[pod.status],
    image: pod.image,
    ...flatContainer(pod),
    volumeInGb: persistent?.size ?? 0,
    volumeMountPath: persistent?.path ?? network?.[0]?.path ?? '',
    volumeEncrypted: false,
    networkVolumeId: network?.[0]?.volumeId ?? null,
    templateId: pod.template,
    gpuCount: gpu?.count ?? 0,
    gpuTypeId: gpu?.id ?? null,
    gpu: gpu ? { id: gpu.id, count: gpu.count, displayName: gpuName(catalog, gpu.id) } : null,
    cpuFlavorId: cpu?.id ?? null,
    vcpuCount: Math.floor(gpu?.vcpuCount ?? cpu?.vcpuCount ?? 0),
    memoryInGb: Math.floor(gpu?.memory ?? cpu?.memory ?? 0),
    costPerHr: pod.cost,
    adjustedCostPerHr: pod.cost,
    interruptible: false,
    locked: pod.locked,
    publicIp: mapped.find(({ ip }) => ip !== null)?.ip ?? '',
    portMappings: Object.fromEntries(mapped.map(({ private: inside, public: outside }) => [String(inside), outside])),
    machineId: null,
    endpointId: null,
    aiApiId: null,
    savingsPlans: [],
    uptimeSeconds: pod.runtime?.uptime ?? 0,
    createdAt: pod.createdAt,
    lastStartedAt: pod.startedAt,
    lastStatusChange: pod.startedAt ?? pod.createdAt,
  }
}
export type V1Pod = ReturnType<typeof v1Pod>

/** Part that `includeMachine` adds. */
export function v1Machine(pod: Pod, catalog: Catalog) {
  const { gpu, cpu, dataCenterId, cloud } = pod
  return {
    gpuTypeId: gpu?.id ?? null,
    gpuDisplayName: gpu ? gpuName(catalog, gpu.id) : null,
    cpuTypeId: cpu?.id ?? null,
    cpuCount: Math.floor(gpu?.vcpuCount ?? cpu?.vcpuCount ?? 0),
    dataCenterId,
    location: dataCenterId,
    secureCloud: cloud === 'SECURE',
    minPodGpuCount: gpu ? 1 : 0,
    costPerHr: pod.cost,
  }
}

/** Filters of the list (LEG-6), with the value that each compares. A filter that is given several times accepts any of its values. */
const FILTERS: Readonly<Record<string, (pod: Pod, shown: V1Pod) => unknown>> = {
  computeType: (pod) => (pod.gpu ? 'GPU' : 'CPU'),
  cpuFlavorId: (_, shown) => shown.cpuFlavorId,
  dataCenterId: (pod) => pod.dataCenterId,
  desiredStatus: (_, shown) => shown.desiredStatus,
  endpointId: (_, shown) => shown.endpointId,
  gpuTypeId: (_, shown) => shown.gpuTypeId,
  id: (pod) => pod.id,
  imageName: (pod) => pod.image,
  name: (pod) => pod.name,
  networkVolumeId: (_, shown) => shown.networkVolumeId,
  templateId: (pod) => pod.template,
}

/** Whether a list with this query includes a pod. */
export function isWanted(query: URLSearchParams, pod: Pod, shown: V1Pod): boolean {
  return Object.entries(FILTERS).every(([name, member]) => {
    const wanted = query.getAll(name)
    return wanted.length === 0 || wanted.includes(String(member(pod, shown)))
  })
}
