import type { CreatePodRequest } from '../../contract/pods/pods.ts'
import { type Catalog, isValidVcpuCount } from '../catalog/catalog.ts'
import type { PlacementHost } from '../host/placement.ts'
import type { PodGpu, PodSpec } from '../pod/record.ts'
import { dataCenterLadder, diskLadder, fewer, lowerSizes } from './rungs.ts'
import type { Ladder, Rung } from './search.ts'

/** Changes of a requested pod that may make it fit (WHY-3). Pure. */

type Body = CreatePodRequest
type PodLadder = Ladder<Body>

const MB_PER_GB = 1024
/** Minimum size of a persistent volume in a request, GB. */
const MIN_PERSISTENT_GB = 10

/**
 * Ladders for every kind of change, each with its smallest step first. `spec`: the request merged with its template. GPU types and data
 * centers that no host has are left out.
 */
export function podLadders(spec: PodSpec, catalog: Catalog, hosts: readonly PlacementHost[]): PodLadder[] {
  const gpu = spec.compute.kind === 'gpu' ? spec.compute : null
  const ofCompute = gpu
    ? [...gpuTypes(gpu, catalog, hosts), gpuCounts(gpu), memory(gpu, hosts), vcpu(gpu, hosts), cuda(gpu)]
    : cpuSizes(spec, catalog)
  const all = [...ofCompute, dataCenters(spec, hosts), cloud(spec), disk(spec, hosts), volume(spec, hosts), networking(spec)]
  return all.filter(({ rungs }) => rungs.length > 0)
}

function gpuTypes({ typeId }: PodGpu, { gpuTypes: known }: Catalog, hosts: readonly PlacementHost[]): PodLadder[] {
  const free = new Set(hosts.flatMap(({ gpus }) => gpus.filter((one) => one.free > 0).map(({ typeId }) => typeId)))
  const others = known.filter(({ id, offered }) => offered && id !== typeId && free.has(id))
  return others.map(({ id }) => ({
    kind: 'GPU_TYPE',
    rungs: [{ summary: `use ${id}`, apply: (body) => ({ ...body, ...(body.gpu && { gpu: { ...body.gpu, id } }) }) }],
  }))
}

function gpuCounts({ count: asked }: PodGpu): PodLadder {
  const rungs = fewer(asked).map((count): Rung<Body> => {
    const summary = `take ${count} ${count === 1 ? 'GPU' : 'GPUs'}`
    return { summary, apply: (body) => ({ ...body, ...(body.gpu && { gpu: { ...body.gpu, count } }) }) }
  })
  return { kind: 'GPU_COUNT', rungs }
}

function cpuSizes({ compute }: PodSpec, { cpuFlavors }: Catalog): PodLadder[] {
  if (compute.kind !== 'cpu') return []
  const { flavorId, vcpuCount: asked } = compute
  const rung = (id: string, vcpuCount: number): Rung<Body> => ({
    summary: `use ${vcpuCount} vCPUs of ${id}`,
    apply: (body) => ({ ...body, cpu: { id, vcpuCount } }),
  })
  const own = cpuFlavors.find(({ id }) => id === flavorId)
  const smaller = fewer(asked).filter((count) => own && isValidVcpuCount(own, count))
  const others = cpuFlavors.filter(({ id, offered }) => offered && id !== flavorId)
  return [
    { kind: 'CPU_SIZE', rungs: smaller.map((count) => rung(flavorId, count)) },
    ...others
      .filter((flavor) => isValidVcpuCount(flavor, asked))
      .map(({ id }): PodLadder => {
        return { kind: 'CPU_SIZE', rungs: [rung(id, asked)] }
      }),
  ]
}

function dataCenters({ dataCenterIds: asked, mounts }: PodSpec, hosts: readonly PlacementHost[]): PodLadder {
  // A network volume determines the pod's data center.
  if (asked.length === 0 || mounts.network) return { kind: 'DATA_CENTER', rungs: [] }
  return dataCenterLadder(asked, hosts)
}

function cloud({ cloud: asked }: PodSpec): PodLadder {
  const other = asked === 'SECURE' ? 'COMMUNITY' : 'SECURE'
  return { kind: 'CLOUD', rungs: [{ summary: `use ${other} hardware`, apply: (body) => ({ ...body, cloud: other }) }] }
}

function disk({ container, mounts }: PodSpec, hosts: readonly PlacementHost[]): PodLadder {
  const beside = mounts.persistent?.sizeGb ?? 0
  return diskLadder(
    hosts.map(({ diskGbFree }) => diskGbFree - beside),
    container.diskGb,
  )
}

function volume({ container, mounts }: PodSpec, hosts: readonly PlacementHost[]): PodLadder {
  const asked = mounts.persistent
  if (!asked) return { kind: 'VOLUME', rungs: [] }
  const available = hosts.map(({ diskGbFree }) => diskGbFree - container.diskGb)
  const rungs = lowerSizes(available, asked.sizeGb, MIN_PERSISTENT_GB).map((size): Rung<Body> => {
    const persistent = { size, path: asked.path }
    const summary = `take ${size} GB of persistent volume`
    return { summary, apply: (body) => ({ ...body, mounts: { ...body.mounts, persistent } }) }
  })
  return { kind: 'VOLUME', rungs }
}

function memory({ minRamGbPerGpu: asked }: PodGpu, hosts: readonly PlacementHost[]): PodLadder {
  if (asked === null) return { kind: 'MEMORY', rungs: [] }
  const sizes = lowerSizes(
    hosts.map((host) => host.memoryMbTotal / MB_PER_GB / gpusOf(host)),
    asked,
  )
  const rungs = sizes.map((gb) => atLeast(`ask for ${gb} GB of memory for each GPU`, { minRamPerGpu: gb }))
  return { kind: 'MEMORY', rungs: [...rungs, atLeast('ask for no minimum of memory', { minRamPerGpu: undefined })] }
}

function vcpu({ minVcpuPerGpu: asked }: PodGpu, hosts: readonly PlacementHost[]): PodLadder {
  if (asked === null) return { kind: 'VCPU', rungs: [] }
  const sizes = lowerSizes(
    hosts.map((host) => host.vcpuTotal / gpusOf(host)),
    asked,
  )
  const rungs = sizes.map((count) => atLeast(`ask for ${count} vCPUs for each GPU`, { minVcpuCountPerGpu: count }))
  return { kind: 'VCPU', rungs: [...rungs, atLeast('ask for no minimum of vCPUs', { minVcpuCountPerGpu: undefined })] }
}

function cuda({ minCudaVersion, allowedCudaVersions }: PodGpu): PodLadder {
  const isAsked = minCudaVersion !== null || allowedCudaVersions.length > 0
  // An empty list also overrides the template's.
  const rung = atLeast('take any CUDA version', { minCudaVersion: undefined, allowedCudaVersions: [] })
  return { kind: 'CUDA', rungs: isAsked ? [rung] : [] }
}

function networking({ globalNetworking }: PodSpec): PodLadder {
  const rung: Rung<Body> = { summary: 'do without global networking', apply: (body) => ({ ...body, globalNetworking: false }) }
  return { kind: 'GLOBAL_NETWORKING', rungs: globalNetworking ? [rung] : [] }
}

type GpuRequest = NonNullable<Body['gpu']>
type Limits = Omit<GpuRequest, 'id' | 'count'>

function atLeast(summary: string, change: { [Name in keyof Limits]: Limits[Name] | undefined }): Rung<Body> {
  return { summary, apply: (body) => (body.gpu ? { ...body, gpu: withLimits(body.gpu, change) } : body) }
}

function withLimits(gpu: GpuRequest, change: { [Name in keyof Limits]: Limits[Name] | undefined }): GpuRequest {
  const { id, count, ...limits } = { ...gpu, ...change }
  const named: Limits = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined))
  return { id, ...(count !== undefined && { count }), ...named }
}

function gpusOf({ gpus }: PlacementHost): number {
  return Math.max(
    1,
    gpus.reduce((sum, { total }) => sum + total, 0),
  )
}
