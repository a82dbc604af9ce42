import type { Cloud } from '../../../contract/enums.ts'
import type { PodCpuRequest, PodGpuRequest } from '../../../contract/pods/pod-parts.ts'
import { badRequest, type Refusal, refused } from '../../../contract/problems.ts'
import {
  type Catalog,
  CPU_DISK_GB_PER_VCPU,
  findCpuFlavor,
  findGpuType,
  isValidVcpuCount,
  podCpuPrice,
  podGpuPrice,
} from '../../catalog/catalog.ts'
import { unknownCpuFlavor, unknownGpuType, unsoldSize } from '../../catalog/unknown.ts'
import type { PodCpu, PodGpu } from '../record.ts'

/** Valid compute with its price in USD per hour, or the refusal. */
export type ComputeResult = { ok: true; compute: PodGpu | PodCpu; pricePerHour: number } | { ok: false; problem: Refusal }

/**
 * GPUs that a create requests, with their total price per hour (POD-7, POD-9, POD-19). `templateCuda` applies unless the body names CUDA
 * versions.
 */
export function gpuCompute(catalog: Catalog, asked: PodGpuRequest, cloud: Cloud, templateCuda: readonly string[]): ComputeResult {
  const type = findGpuType(catalog, asked.id)
  if (!type) return { ok: false, problem: unknownGpuType(catalog, asked.id, '$.gpu.id') }
  const price = podGpuPrice(type, cloud)
  if (price === null) return refused(`gpu.id ${type.id} is not sold in cloud ${cloud}`)
  const count = asked.count ?? 1
  if (count > type.maxCount) return refused(`gpu.count ${count} is above ${type.maxCount}, the most of ${type.id} in one pod`)
  const { allowedCudaVersions, minCudaVersion } = asked
  const isCudaNamed = allowedCudaVersions !== undefined || minCudaVersion !== undefined
  const compute: PodGpu = {
    kind: 'gpu',
    typeId: type.id,
    count,
    allowedCudaVersions: isCudaNamed ? (allowedCudaVersions ?? []) : [...templateCuda],
    minCudaVersion: minCudaVersion ?? null,
    minRamGbPerGpu: asked.minRamPerGpu ?? null,
    minVcpuPerGpu: asked.minVcpuCountPerGpu ?? null,
  }
  return { ok: true, compute, pricePerHour: price * count }
}

/** CPU shape that a create requests, with its price per hour (POD-8, POD-9, POD-19). */
export function cpuCompute(catalog: Catalog, asked: PodCpuRequest, cloud: Cloud): ComputeResult {
  const { id, vcpuCount, memory } = asked
  const flavor = findCpuFlavor(catalog, id)
  if (!flavor) return { ok: false, problem: unknownCpuFlavor(catalog, id, '$.cpu.id', `invalid CPU flavor id "${id}"`) }
  const price = podCpuPrice(flavor, cloud)
  if (price === null) return refused(`cpu.id ${id} is not sold in cloud ${cloud}`)
  if (!isValidVcpuCount(flavor, vcpuCount)) return { ok: false, problem: unsoldSize(flavor, vcpuCount, '$.cpu.vcpuCount') }
  const memoryGb = flavor.ramGbPerVcpu * vcpuCount
  if (memory !== undefined && memory !== memoryGb)
    return refused(`memory ${memory} is not valid for ${id}: ${vcpuCount} vCPUs have ${memoryGb} GB`)
  return { ok: true, compute: { kind: 'cpu', flavorId: id, vcpuCount, memoryGb }, pricePerHour: price * vcpuCount }
}

/** Refusal of too large a container disk; null when it is allowed. The limit of a CPU pod grows with its vCPUs (POD-8). */
export function refuseDisk(compute: PodGpu | PodCpu, diskGb: number): Refusal | null {
  if (compute.kind === 'gpu') return null
  const mostGb = compute.vcpuCount * CPU_DISK_GB_PER_VCPU
  return diskGb > mostGb ? badRequest(`disk ${diskGb} is above ${mostGb} GB, the most for ${compute.vcpuCount} vCPUs`) : null
}
