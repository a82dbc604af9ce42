import type { EndpointConfig } from '../contract/endpoint-config.ts'
import { findCpuFlavor, gpuTypesOfPools } from './catalog.ts'
import type { ComputeShape } from './placement.ts'

/** What one GPU of a worker brings along; small, so that a single-GPU workstation fits its own workers. */
const VCPUS_PER_GPU = 2
const MEMORY_MB_PER_GPU = 8 * 1024

/** The compute that a worker of this endpoint may run on, best first. */
export function workerShapes(config: EndpointConfig): ComputeShape[] {
  const { compute } = config
  if (compute.kind === 'gpu') {
    return gpuTypesOfPools(compute.pools, compute.excludedTypes).map((typeId) => ({
      gpu: { typeId, count: compute.count },
      vcpus: VCPUS_PER_GPU * compute.count,
      memoryMb: MEMORY_MB_PER_GPU * compute.count,
    }))
  }
  return compute.options.flatMap(({ id, vcpuCount }) => {
    const flavor = findCpuFlavor(id)
    return flavor ? [{ gpu: null, vcpus: vcpuCount, memoryMb: vcpuCount * flavor.ramGbPerVcpu * 1024 }] : []
  })
}

/** Images named `builtin/…` are programs of the agent itself; everything else needs a container engine. */
export function runtimeOfImage(image: string): 'docker' | 'process' {
  return image.startsWith('builtin/') ? 'process' : 'docker'
}
