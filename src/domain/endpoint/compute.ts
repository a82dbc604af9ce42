import type { UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import { badRequest, type Refusal } from '../../contract/problems.ts'
import {
  type Catalog,
  CPU_DISK_GB_PER_VCPU,
  findCpuFlavor,
  findGpuType,
  gpuTypesOfPools,
  isGpuPool,
  isValidVcpuCount,
} from '../catalog/catalog.ts'
import { unknownCpuFlavor, unknownGpuPool, unsoldSize } from '../catalog/unknown.ts'
import type { CpuCompute, GpuCompute } from './record.ts'

type GpuRequest = NonNullable<UpdateEndpointRequest['gpu']>
type CpuRequest = NonNullable<UpdateEndpointRequest['cpu']>

/**
 * GPU compute that a request asks for. `pools` alone clears the exclusions; without `pools` both stay; an empty CUDA field clears itself
 * and leaves the other (END-11).
 */
export function requestedGpu(asked: GpuRequest, current?: GpuCompute): GpuCompute {
  const kept = asked.pools === undefined
  return {
    kind: 'gpu',
    pools: asked.pools ?? current?.pools ?? [],
    excludedTypes: (kept ? current?.excludedTypes : asked.excludedTypes?.map((type) => type.trim())) ?? [],
    count: asked.count ?? current?.count ?? 1,
    allowedCudaVersions: asked.allowedCudaVersions ?? current?.allowedCudaVersions ?? [],
    minCudaVersion: asked.minCudaVersion === undefined ? (current?.minCudaVersion ?? null) : asked.minCudaVersion || null,
  }
}

/** CPU compute that a request asks for, in the order of the request. */
export function requestedCpu(asked: CpuRequest): CpuCompute {
  return { kind: 'cpu', options: asked.map(({ id, vcpuCount }) => ({ id, vcpuCount })) }
}

/** Refuses memory that differs from the flavor's: memory is derived, and accepted only if it is equal (POD-8). */
export function refuseMemory(catalog: Catalog, asked: CpuRequest): Refusal | null {
  const wrong = asked.find(
    ({ id, vcpuCount, memory }) => memory !== undefined && memory !== (cpuMemoryGb(catalog, id, vcpuCount) ?? memory),
  )
  return wrong ? badRequest(`memory ${wrong.memory} is not valid for ${wrong.id} with ${wrong.vcpuCount} vCPUs`) : null
}

/** Memory of a CPU worker, GB: derived from its flavor. Null for an unknown flavor. */
export function cpuMemoryGb(catalog: Catalog, id: string, vcpuCount: number): number | null {
  const flavor = findCpuFlavor(catalog, id)
  return flavor ? flavor.ramGbPerVcpu * vcpuCount : null
}

/** Refuses GPU compute: an unknown pool, exclusions that do not fit, too many GPUs, or two CUDA limits at once (END-4, POD-7). */
export function refuseGpuCompute(catalog: Catalog, compute: GpuCompute): Refusal | null {
  const unknown = compute.pools.find((pool) => !isGpuPool(catalog, pool))
  if (unknown !== undefined) return unknownGpuPool(catalog, unknown, `$.gpu.pools[${compute.pools.indexOf(unknown)}]`)
  const offered = gpuTypesOfPools(catalog, compute.pools, [])
  const foreign = compute.excludedTypes.find((type) => !offered.includes(type))
  if (foreign !== undefined) return badRequest(`excluded type ${foreign} is not in the selected pools`)
  if (gpuTypesOfPools(catalog, compute.pools, compute.excludedTypes).length === 0) return badRequest('gpu.excludedTypes leaves no GPU type')
  const most = Math.max(...gpuTypesOfPools(catalog, compute.pools, compute.excludedTypes).map((id) => mostGpus(catalog, id)))
  if (compute.count > most) return badRequest(`gpu.count ${compute.count} is above ${most}, the most of these GPU types in one worker`)
  if (compute.allowedCudaVersions.length > 0 && compute.minCudaVersion !== null) {
    return badRequest('allowedCudaVersions and minCudaVersion exclude each other')
  }
  return null
}

/** Refuses CPU compute: an unknown flavor, a size that it is not sold at, or too much disk for it (POD-8). */
export function refuseCpuCompute(catalog: Catalog, compute: CpuCompute, diskGb: number): Refusal | null {
  for (const [index, option] of compute.options.entries()) {
    const at = `$.cpu[${index}]`
    const flavor = findCpuFlavor(catalog, option.id)
    if (!flavor) return unknownCpuFlavor(catalog, option.id, `${at}.id`, `cpu flavor ${option.id} not found`)
    if (!isValidVcpuCount(flavor, option.vcpuCount)) return unsoldSize(flavor, option.vcpuCount, `${at}.vcpuCount`)
    const maxDiskGb = option.vcpuCount * CPU_DISK_GB_PER_VCPU
    if (diskGb > maxDiskGb) return badRequest(`disk ${diskGb} is above ${maxDiskGb} GB, the most for ${option.vcpuCount} vCPUs`)
  }
  return null
}

function mostGpus(catalog: Catalog, typeId: string): number {
  return findGpuType(catalog, typeId)?.maxCount ?? 0
}
