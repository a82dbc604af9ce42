import type { CreateEndpointRequest, Endpoint, UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import type { EndpointWorker } from '../../contract/endpoints/workers.ts'
import type { V1CreateEndpoint, V1UpdateEndpoint } from '../../contract/v1/bodies.ts'
import { type Catalog, gpuTypesOfPools } from '../catalog/catalog.ts'
import { flatContainer } from '../flat/container.ts'
import { instanceOf, type Mapped } from '../flat/terms.ts'
import { poolsOf } from './gpu-pools.ts'

/** Defaults of a v1 create (LEG-9). */
const DEFAULTS = { scalerType: 'QUEUE_DELAY', scalerValue: 4, idleTimeout: 5, vcpuCount: 2, gpuCount: 1 } as const

type Scaling = Endpoint['scaling']

/** v2 body for a v1 create (LEG-9). */
export function endpointCreate(body: V1CreateEndpoint, catalog: Catalog): Mapped<CreateEndpointRequest> {
  const isCpu = body.computeType === 'CPU' || (body.computeType === undefined && (body.instanceIds ?? body.cpuFlavorIds) !== undefined)
  const compute = isCpu ? cpuOf(body) : gpuOf({ gpuCount: DEFAULTS.gpuCount, ...body }, catalog)
  if (!compute.ok) return compute
  if (!isCpu && !body.gpuTypeIds?.length) {
    return { ok: false, detail: '$.gpuTypeIds: list the GPU types in order of preference, or set computeType to CPU' }
  }
  const scaling = scalingOf(body.scalerType ?? DEFAULTS.scalerType, body.scalerValue ?? DEFAULTS.scalerValue)
  return { ok: true, body: { ...sharedOf(body), ...compute.body, templateId: body.templateId, scaling } as CreateEndpointRequest }
}

/** Whether a v1 update needs the endpoint's present scaling, because it names only one of type and value. */
export function needsScaling({ scalerType, scalerValue }: V1UpdateEndpoint): boolean {
  return (scalerType === undefined) !== (scalerValue === undefined)
}

/** v2 body for a v1 update. `scaling`: the endpoint's present scaling, if `needsScaling`. */
export function endpointPatch(body: V1UpdateEndpoint, scaling: Scaling | null, catalog: Catalog): Mapped<UpdateEndpointRequest> {
  const namesCpu = (body.instanceIds ?? body.cpuFlavorIds) !== undefined
  const compute = namesCpu ? cpuOf(body) : gpuOf(body, catalog)
  if (!compute.ok) return compute
  const type = body.scalerType ?? scaling?.type
  const value = body.scalerValue ?? (scaling ? scalerValueOf(scaling) : DEFAULTS.scalerValue)
  const scales = type !== undefined && (body.scalerType ?? body.scalerValue) !== undefined
  return {
    ok: true,
    body: {
      ...sharedOf(body),
      ...(compute.body as UpdateEndpointRequest),
      ...(body.templateId && { templateId: body.templateId }),
      ...(scales && { scaling: scalingOf(type, value) }),
    },
  }
}

function sharedOf(body: V1UpdateEndpoint): UpdateEndpointRequest {
  const { name, env, dataCenterIds, flashboot, executionTimeoutMs } = body
  const volumes = body.networkVolumeIds ?? (body.networkVolumeId === undefined ? undefined : [body.networkVolumeId])
  const workers = workersOf(body)
  return {
    ...(name && { name }),
    ...(env && { env }),
    ...(dataCenterIds && { dataCenterIds }),
    ...(flashboot !== undefined && { flashboot }),
    ...(executionTimeoutMs && { timeout: executionTimeoutMs }),
    ...(volumes && { networkVolumes: volumes.filter((id) => id !== '') }),
    ...(Object.keys(workers).length > 0 && { workers }),
  }
}

/** With REQUEST_COUNT, the idle timeout that v1 clients always send is dropped: it has no effect, and v2 refuses it. */
function workersOf({ workersMin, workersMax, idleTimeout, scalerType }: V1UpdateEndpoint) {
  return {
    ...(workersMin !== undefined && { min: workersMin }),
    ...(workersMax !== undefined && { max: workersMax }),
    ...(idleTimeout !== undefined && scalerType !== 'REQUEST_COUNT' && { idleTimeout }),
  }
}

function scalingOf(type: Scaling['type'], value: number): Scaling {
  return type === 'QUEUE_DELAY' ? { type, queueDelay: value } : { type, requestCount: value }
}

function scalerValueOf(scaling: Scaling): number {
  return scaling.type === 'QUEUE_DELAY' ? scaling.queueDelay : scaling.requestCount
}

function gpuOf(body: V1UpdateEndpoint, catalog: Catalog): Mapped<{ gpu?: UpdateEndpointRequest['gpu'] }> {
  const { gpuTypeIds, gpuCount, allowedCudaVersions, minCudaVersion } = body
  const pooled = gpuTypeIds?.length ? poolsOf(catalog, gpuTypeIds) : null
  if (pooled && !pooled.ok) return pooled
  const gpu = {
    ...(pooled && { pools: pooled.pools, excludedTypes: pooled.excludedTypes }),
    ...(gpuCount !== undefined && { count: gpuCount }),
    ...(allowedCudaVersions?.length && { allowedCudaVersions }),
    ...(minCudaVersion && { minCudaVersion }),
  }
  return { ok: true, body: Object.keys(gpu).length > 0 ? { gpu } : {} }
}

function cpuOf({
  instanceIds,
  cpuFlavorIds = [],
  vcpuCount = DEFAULTS.vcpuCount,
}: V1UpdateEndpoint): Mapped<Pick<UpdateEndpointRequest, 'cpu'>> {
  const options = instanceIds ? instanceIds.map(instanceOf) : cpuFlavorIds.map((id) => ({ id, vcpuCount }))
  const known = options.filter((option) => option !== null)
  if (known.length < options.length) return { ok: false, detail: '$.instanceIds: want <flavor>-<vCPUs>-<GB>, such as cpu3g-4-16' }
  if (known.length === 0) return { ok: false, detail: '$.instanceIds: list the CPU machines in order of preference, such as cpu3g-4-16' }
  return { ok: true, body: { cpu: known } }
}

/** An endpoint as v1 shows it (LEG-7). */
export function v1Endpoint(endpoint: Endpoint, more: { templateId: string | null; version: number }, catalog: Catalog) {
  const { gpu, cpu, workers, scaling } = endpoint
  return {
    id: endpoint.id,
    name: endpoint.name,
    templateId: more.templateId,
    version: more.version,
    computeType: gpu ? 'GPU' : 'CPU',
    gpuTypeIds: gpu ? gpuTypesOfPools(catalog, gpu.pools, gpu.excludedTypes) : [],
    gpuIds: gpu ? [...gpu.pools, ...gpu.excludedTypes.map((id) => `-${id}`)].join(',') : '',
    gpuCount: gpu?.count ?? 0,
    allowedCudaVersions: gpu?.allowedCudaVersions ?? [],
    minCudaVersion: gpu?.minCudaVersion ?? '',
    instanceIds: (cpu ?? []).map(({ id, vcpuCount, memory }) => `${id}-${vcpuCount}-${memory}`),
    workersMin: workers.min,
    workersMax: workers.max,
    idleTimeout: workers.idleTimeout ?? DEFAULTS.idleTimeout,
    scalerType: scaling.type,
    scalerValue: Math.max(1, Math.round(scalerValueOf(scaling))),
    executionTimeoutMs: endpoint.timeout,
    flashboot: endpoint.flashboot !== 'OFF',
    dataCenterIds: endpoint.dataCenterIds,
    networkVolumeId: endpoint.networkVolumes[0] ?? null,
    networkVolumeIds: endpoint.networkVolumes,
    env: endpoint.env,
    createdAt: endpoint.createdAt,
  }
}

/** Part that `includeTemplate` adds: the endpoint's container, under the id of the template that it was made from. */
export function v1EndpointTemplate(endpoint: Endpoint, templateId: string | null) {
  return { id: templateId, name: endpoint.name, isServerless: true, isPublic: false, ...flatContainer(endpoint) }
}

/** Part that `includeWorkers` adds for one worker. */
export function v1Worker(worker: EndpointWorker) {
  return {
    id: worker.id,
    desiredStatus: worker.status === 'THROTTLED' ? 'EXITED' : 'RUNNING',
    image: worker.image,
    gpuCount: worker.gpuCount,
    gpuTypeId: worker.gpuTypeId,
    dataCenterId: worker.dataCenterId,
    slsVersion: worker.version,
    uptimeSeconds: worker.uptimeSeconds ?? 0,
    lastStartedAt: worker.startedAt,
  }
}
