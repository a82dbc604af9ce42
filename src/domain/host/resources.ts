import type { ComputeShape, PlacementHost } from './placement.ts'

/** Capacity that a workload takes from its host. The disk of a pod is the sum of the container's and the persistent volume's. */
export interface Resources extends Omit<ComputeShape, 'flavorId'> {
  diskGb: number
}

/** A host after the release of a workload's resources. */
export function released(host: PlacementHost, { gpu, vcpus, memoryMb, diskGb }: Resources): PlacementHost {
  return {
    ...host,
    vcpuFree: host.vcpuFree + vcpus,
    memoryMbFree: host.memoryMbFree + memoryMb,
    diskGbFree: host.diskGbFree + diskGb,
    gpus: host.gpus.map((one) => (one.typeId === gpu?.typeId ? { ...one, free: one.free + gpu.count } : one)),
  }
}
