import type { Endpoint } from '../../contract/endpoints/endpoints.ts'
import type { EndpointConfig } from '../endpoint/record.ts'
import { startOfArgs } from './start-script.ts'
import { envPairs } from './values.ts'

const IMPLICIT = '-template'

/** The template id of an endpoint that was made without a template: it stands for its own container, and is in no list (GQL-22). */
export function implicitTemplateId(endpointId: string): string {
  return `${endpointId}${IMPLICIT}`
}

/** The id of the endpoint whose implicit template this is; null for other ids. */
export function endpointOfTemplate(templateId: string): string | null {
  return templateId.endsWith(IMPLICIT) ? templateId.slice(0, -IMPLICIT.length) : null
}

/** An endpoint as GraphQL shows it (GQL-16, GQL-22): counts are integers. */
export function flatEndpoint(endpoint: Endpoint, { templateId, version, volumeAt }: EndpointConfig, userId: string) {
  const { gpu, cpu, workers, scaling } = endpoint
  return {
    id: endpoint.id,
    name: endpoint.name,
    type: endpoint.type === 'QUEUE' ? 'QB' : 'LB',
    userId,
    templateId: templateId ?? implicitTemplateId(endpoint.id),
    template: endpointTemplate(endpoint, templateId ?? implicitTemplateId(endpoint.id)),
    computeType: gpu ? 'GPU' : 'CPU',
    gpuIds: gpu ? [...gpu.pools, ...gpu.excludedTypes.map((id) => `-${id}`)].join(',') : '',
    gpuCount: gpu?.count ?? 0,
    instanceIds: (cpu ?? []).map(({ id, vcpuCount, memory }) => `${id}-${vcpuCount}-${memory}`),
    allowedCudaVersions: (gpu?.allowedCudaVersions ?? []).join(','),
    minCudaVersion: gpu?.minCudaVersion ?? '',
    workersMin: workers.min,
    workersMax: workers.max,
    workersStandby: workers.min,
    workersPFBTarget: 0,
    idleTimeout: workers.idleTimeout ?? 0,
    scalerType: scaling.type,
    scalerValue: Math.max(1, Math.round(scaling.type === 'QUEUE_DELAY' ? scaling.queueDelay : scaling.requestCount)),
    executionTimeoutMs: endpoint.timeout,
    locations: endpoint.dataCenterIds.join(','),
    networkVolumeId: endpoint.networkVolumes[0] ?? null,
    networkVolumeIds: endpoint.networkVolumes.map((networkVolumeId) => ({
      networkVolumeId,
      dataCenterId: Object.entries(volumeAt ?? {}).find(([, id]) => id === networkVolumeId)?.[0] ?? null,
    })),
    flashBootType: endpoint.flashboot,
    flashEnvironmentId: null,
    modelReferences: [],
    env: envPairs(endpoint.env),
    version,
    createdAt: endpoint.createdAt,
  }
}
export type FlatEndpoint = ReturnType<typeof flatEndpoint>

/** The endpoint's container, under the id of its template. */
function endpointTemplate(endpoint: Endpoint, id: string) {
  return {
    id,
    name: endpoint.name,
    imageName: endpoint.image,
    ...startOfArgs(endpoint.args),
    env: envPairs(endpoint.env),
    ports: endpoint.ports.join(','),
    portsConfig: endpoint.ports.map((port) => ({ name: '', port })),
    containerDiskInGb: endpoint.disk,
    volumeInGb: 0,
    volumeMountPath: '',
    containerRegistryAuthId: endpoint.registry,
    isServerless: true,
    isPublic: false,
    isRunpod: false,
    category: endpoint.gpu ? 'NVIDIA' : 'CPU',
    startSsh: false,
    startJupyter: false,
    readme: '',
    advancedStart: endpoint.args !== '',
  }
}
