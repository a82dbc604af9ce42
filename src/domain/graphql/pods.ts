import type { EndpointWorker } from '../../contract/endpoints/workers.ts'
import type { Pod } from '../../contract/pods/pods.ts'
import { type Catalog, findGpuType } from '../catalog/catalog.ts'
import type { EndpointConfig } from '../endpoint/record.ts'
import { DESIRED } from '../flat/pod-status.ts'
import { envPairs, envTexts } from './values.ts'

/** A pod as GraphQL shows it (GQL-13 to GQL-15), without the fields that only its row has: sizes and counts are integers. */
export function flatPod(pod: Pod, catalog: Catalog) {
  const { persistent, network } = pod.mounts
  const { gpu, cpu, cluster } = pod
  return {
    id: pod.id,
    name: pod.name,
    imageName: pod.image,
    dockerArgs: pod.args,
    dockerId: null,
    env: envTexts(pod.env),
    ports: pod.ports.join(','),
    port: null,
    desiredStatus: DESIRED[pod.status],
    lastStatusChange: describeStatus(pod),
    lastStartedAt: pod.startedAt,
    costPerHr: pod.cost,
    containerDiskInGb: pod.disk,
    volumeInGb: persistent?.size ?? 0,
    volumeMountPath: persistent?.path ?? network?.[0]?.path ?? '',
    gpuCount: gpu?.count ?? 0,
    vcpuCount: Math.floor(gpu?.vcpuCount ?? cpu?.vcpuCount ?? 0),
    memoryInGb: Math.floor(gpu?.memory ?? cpu?.memory ?? 0),
    uptimeSeconds: pod.runtime?.uptime ?? 0,
    containerRegistryAuthId: pod.registry,
    networkVolumeId: network?.[0]?.volumeId ?? null,
    templateId: pod.template,
    machine: {
      podId: pod.id,
      gpuTypeId: gpu?.id ?? null,
      gpuDisplayName: gpu ? (findGpuType(catalog, gpu.id)?.name ?? gpu.id) : null,
      location: pod.dataCenterId,
      dataCenterId: pod.dataCenterId,
      secureCloud: pod.cloud === 'SECURE',
      costPerHr: pod.cost,
    },
    runtime: pod.runtime && runtimeOf(pod.id, pod.runtime),
    createdAt: pod.createdAt,
    locked: pod.locked,
    labels: envPairs(pod.labels),
    clusterId: cluster?.id ?? null,
    clusterIdx: cluster?.rank ?? null,
    clusterIp: cluster?.ip ?? null,
    clusterRole: cluster ? (cluster.rank === 0 ? 'PRIMARY' : 'SECONDARY') : null,
  }
}
export type FlatPod = ReturnType<typeof flatPod>

/** A worker of an endpoint as a pod (GQL-76): its GPU and its uptime, without its variables and ports. */
export function flatWorker(worker: EndpointWorker, { name, container }: EndpointConfig, catalog: Catalog): FlatPod {
  const { id, status, image, gpuCount, gpuTypeId, dataCenterId, startedAt, uptimeSeconds, reason } = worker
  const gpu = gpuTypeId === null ? undefined : findGpuType(catalog, gpuTypeId)
  return {
    id,
    name,
    imageName: image ?? container.image,
    dockerArgs: '',
    dockerId: null,
    env: [],
    ports: '',
    port: null,
    desiredStatus: 'RUNNING',
    lastStatusChange: reason === null ? status : `${status}: ${reason}`,
    lastStartedAt: startedAt,
    costPerHr: 0,
    containerDiskInGb: container.diskGb,
    volumeInGb: 0,
    volumeMountPath: '',
    gpuCount,
    vcpuCount: 0,
    memoryInGb: 0,
    uptimeSeconds: uptimeSeconds ?? 0,
    containerRegistryAuthId: null,
    networkVolumeId: null,
    templateId: null,
    machine: {
      podId: id,
      gpuTypeId,
      gpuDisplayName: gpu?.name ?? gpuTypeId,
      location: dataCenterId,
      dataCenterId,
      secureCloud: true,
      costPerHr: 0,
    },
    runtime: startedAt === null ? null : runtimeOf(id, { uptime: uptimeSeconds ?? 0 }),
    createdAt: startedAt ?? '',
    locked: false,
    labels: [],
    clusterId: null,
    clusterIdx: null,
    clusterIp: null,
    clusterRole: null,
  }
}

function describeStatus({ status, statusReason, startedAt, createdAt }: Pod): string {
  const since = startedAt === null ? `created ${createdAt}` : `started ${startedAt}`
  return statusReason === null ? `${status}, ${since}` : `${status}: ${statusReason}`
}

function runtimeOf(podId: string, { uptime, ports = [], gpus = [], cpu, memory }: NonNullable<Pod['runtime']>) {
  return {
    uptimeInSeconds: uptime ?? 0,
    ports: ports.map(({ ip, private: privatePort, public: publicPort, type }) => {
      return { ip, isIpPublic: type === 'tcp' && ip !== null, privatePort, publicPort, type }
    }),
    gpus: gpus.map(({ util, memoryUtil }, index) => ({ id: `${podId}-${index}`, gpuUtilPercent: util, memoryUtilPercent: memoryUtil })),
    container: { cpuPercent: cpu?.util ?? 0, memoryPercent: memory?.util ?? 0 },
  }
}
