import { ENDPOINT_DEFAULTS, RETENTION_DEFAULTS } from '../../contract/defaults.ts'
import type { CreateEndpointRequest, UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import { badRequest, type Refusal, refused } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { refuseBuiltin } from '../resources/builtin-image.ts'
import { mergeArgs } from '../resources/container.ts'
import { refuseCpuCompute, refuseGpuCompute, refuseMemory, requestedCpu, requestedGpu } from './compute.ts'
import type { CpuCompute, EndpointConfig, GpuCompute } from './record.ts'
import { diffConfigs, isNewRelease, type ReleaseDiff, sameConfig } from './release-diff.ts'
import { refuseServing } from './serving.ts'

/** Defaults of END-2, END-6, END-7 and POD-6. */
const { idleTimeout: idleTimeoutSeconds, ...bounds } = ENDPOINT_DEFAULTS.workers
const DEFAULT_WORKERS: EndpointConfig['workers'] = { ...bounds, idleTimeoutSeconds }
const DEFAULT_SCALING: Record<EndpointConfig['type'], EndpointConfig['scaling']> = {
  QUEUE: ENDPOINT_DEFAULTS.scaling,
  LOAD_BALANCER: ENDPOINT_DEFAULTS.balancerScaling,
}
/** Default container disk of a worker, GB. */
export const DEFAULT_WORKER_DISK_GB = 10

/** A valid configuration, or its refusal. */
export type ConfigResult = { ok: true; config: EndpointConfig } | { ok: false; problem: Refusal }
/** `releaseDiff` is null if no release is made, and `changed` is false if the request changes nothing. */
export type PatchResult =
  | { ok: true; config: EndpointConfig; changed: boolean; releaseDiff: ReleaseDiff[] | null }
  | { ok: false; problem: Refusal }

/**
 * The configuration for a create body whose template is filled in (END-2 to END-7), or the refusal. `nowMs` is in milliseconds. The caller
 * checks that the registry credential and the network volumes exist.
 */
export function createEndpointConfig(
  catalog: Catalog,
  body: CreateEndpointRequest,
  ids: { id: string; teamId: string },
  nowMs: number,
): ConfigResult {
  const refusal = refuseCreate(catalog, body)
  if (refusal) return { ok: false, problem: refusal }
  const args = mergeArgs('', body)
  if (args === null) return refused(CONTRADICTION)
  const config: EndpointConfig = {
    ...ids,
    name: body.name ?? '',
    type: body.type ?? ENDPOINT_DEFAULTS.type,
    version: 1,
    revision: 1,
    container: {
      image: body.image ?? '',
      args,
      diskGb: body.disk ?? DEFAULT_WORKER_DISK_GB,
      env: body.env ?? {},
      ports: body.ports ?? [],
      registry: body.registry || null,
    },
    compute: body.gpu ? requestedGpu(body.gpu) : requestedCpu(body.cpu ?? []),
    workers: mergeWorkers(DEFAULT_WORKERS, body.workers),
    scaling: body.scaling ?? DEFAULT_SCALING[body.type ?? ENDPOINT_DEFAULTS.type],
    timeoutMs: body.timeout ?? ENDPOINT_DEFAULTS.timeout,
    ...mergeRetention(undefined, body.resultRetention),
    flashboot: flashbootOf(body.flashboot) ?? ENDPOINT_DEFAULTS.flashboot,
    dataCenterIds: body.dataCenterIds ?? [],
    cloud: body.cloud ?? ENDPOINT_DEFAULTS.cloud,
    networkVolumes: body.networkVolumes ?? [],
    ...(body.templateId !== undefined && { templateId: body.templateId }),
    createdAt: formatTime(nowMs),
  }
  const problem = refuseConfig(catalog, config, body.workers)
  return problem ? { ok: false, problem } : { ok: true, config }
}

/**
 * The configuration after a PATCH (END-11, END-12, STRICT-3): fields that the body leaves out stay. A template is applied once; with
 * `isBound` the endpoint counts as made from it afterwards (GQL-22).
 */
export function patchEndpointConfig(catalog: Catalog, config: EndpointConfig, patch: UpdateEndpointRequest, isBound = false): PatchResult {
  const refusal = refusePatch(catalog, config, patch)
  if (refusal) return { ok: false, problem: refusal }
  const args = mergeArgs(config.container.args, patch)
  if (args === null) return refused(CONTRADICTION)
  const next: EndpointConfig = {
    ...config,
    name: patch.name ?? config.name,
    container: {
      ...config.container,
      image: patch.image ?? config.container.image,
      args,
      diskGb: patch.disk ?? config.container.diskGb,
      env: patch.env ?? config.container.env,
      ports: patch.ports ?? config.container.ports,
      registry: patch.registry === undefined ? config.container.registry : patch.registry || null,
    },
    compute: patchCompute(config.compute, patch),
    workers: mergeWorkers(config.workers, patch.workers),
    scaling: patch.scaling ?? config.scaling,
    timeoutMs: patch.timeout ?? config.timeoutMs,
    ...mergeRetention(config.retention, patch.resultRetention),
    flashboot: flashbootOf(patch.flashboot) ?? config.flashboot,
    dataCenterIds: patch.dataCenterIds ?? config.dataCenterIds,
    ...(patch.cloud !== undefined && { cloud: patch.cloud }),
    networkVolumes: patch.networkVolumes ?? config.networkVolumes,
    ...(isBound && patch.templateId && { templateId: patch.templateId }),
  }
  const problem = refuseConfig(catalog, next, patch.workers)
  if (problem) return { ok: false, problem }
  if (sameConfig(config, next) && config.templateId === next.templateId) return { ok: true, config, changed: false, releaseDiff: null }
  const released = isNewRelease(config, next)
  const numbered = { ...next, revision: config.revision + 1, version: config.version + (released ? 1 : 0) }
  return { ok: true, config: numbered, changed: true, releaseDiff: released ? diffConfigs(config, next) : null }
}

const CONTRADICTION = 'args and cmd or entrypoint describe different commands; send one form'

function refuseCreate(catalog: Catalog, body: CreateEndpointRequest): Refusal | null {
  if (body.name === undefined) return { key: 'validationFailed', errors: ["$: missing property 'name'"] }
  if (!body.image) return badRequest('image is required unless templateId is set')
  if ((body.gpu === undefined) === (body.cpu === undefined)) return badRequest('exactly one of gpu and cpu is required')
  return refuseMemory(catalog, body.cpu ?? [])
}

function refusePatch(catalog: Catalog, config: EndpointConfig, patch: UpdateEndpointRequest): Refusal | null {
  if (patch.type !== undefined && patch.type !== config.type) return badRequest('type cannot be changed')
  if (patch.image === '') return badRequest('image cannot be empty')
  const { gpu, cpu } = patch
  if ((gpu !== undefined && config.compute.kind === 'cpu') || (cpu !== undefined && config.compute.kind === 'gpu')) {
    return badRequest('an endpoint cannot change between gpu and cpu')
  }
  if (gpu?.excludedTypes !== undefined && gpu.pools === undefined) {
    return badRequest('gpu.excludedTypes needs gpu.pools')
  }
  return refuseMemory(catalog, cpu ?? [])
}

/** Rules for the finished configuration, the same for create and PATCH. `asked`: the `workers` field of the request itself. */
function refuseConfig(catalog: Catalog, config: EndpointConfig, asked: CreateEndpointRequest['workers']): Refusal | null {
  const { min, max } = config.workers
  if (min > max) return badRequest(`workers.min ${min} is above workers.max ${max}`)
  // END-5: QUEUE_DELAY scales by how long jobs wait, and a LOAD_BALANCER endpoint has none.
  if (config.type === 'LOAD_BALANCER' && config.scaling.type === 'QUEUE_DELAY') {
    return badRequest('scaling type QUEUE_DELAY is for QUEUE endpoints only')
  }
  const serving = refuseServing(config)
  if (serving) return serving
  // END-6: scaling by REQUEST_COUNT never reads the value.
  if (config.type === 'QUEUE' && config.scaling.type === 'REQUEST_COUNT' && asked?.idleTimeout !== undefined) {
    return badRequest('workers.idleTimeout is not used with scaling type REQUEST_COUNT')
  }
  const builtin = refuseBuiltin(config.container.image, config.networkVolumes.length > 0)
  if (builtin) return builtin
  return config.compute.kind === 'gpu'
    ? refuseGpuCompute(catalog, config.compute)
    : refuseCpuCompute(catalog, config.compute, config.container.diskGb)
}

function mergeWorkers(current: EndpointConfig['workers'], asked: CreateEndpointRequest['workers']): EndpointConfig['workers'] {
  return {
    min: asked?.min ?? current.min,
    max: asked?.max ?? current.max,
    idleTimeoutSeconds: asked?.idleTimeout ?? current.idleTimeoutSeconds,
  }
}

function mergeRetention(
  current: EndpointConfig['retention'],
  asked: CreateEndpointRequest['resultRetention'],
): Pick<EndpointConfig, 'retention'> {
  if (!current && !asked) return {}
  return {
    retention: {
      runMs: asked?.run ?? current?.runMs ?? RETENTION_DEFAULTS.run,
      runSyncMs: asked?.runSync ?? current?.runSyncMs ?? RETENTION_DEFAULTS.runSync,
    },
  }
}

function patchCompute(current: GpuCompute | CpuCompute, patch: UpdateEndpointRequest): GpuCompute | CpuCompute {
  if (current.kind === 'cpu') return patch.cpu ? requestedCpu(patch.cpu) : current
  return patch.gpu ? requestedGpu(patch.gpu, current) : current
}

function flashbootOf(asked: CreateEndpointRequest['flashboot']): EndpointConfig['flashboot'] | undefined {
  if (typeof asked !== 'boolean') return asked
  return asked ? 'FLASHBOOT' : 'OFF'
}
