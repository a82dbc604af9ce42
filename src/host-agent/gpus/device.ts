import type { GpuInventory } from '../../host-protocol/messages.ts'

/** One physical GPU of this machine. */
export interface GpuDevice {
  /** Its name in the driver, which is its id in the catalog. */
  typeId: string
  memoryMb: number
  driverVersion: string
  /** The newest CUDA version of the driver; null: none, or not a driver for CUDA. */
  cudaVersion: string | null
  /** Begins with the `idPrefix` of its vendor; the container engine selects devices by this id. */
  uuid: string
}

/** Groups devices by GPU type, as the catalog counts them. */
export function groupGpus(devices: readonly GpuDevice[]): GpuInventory[] {
  const byType = Map.groupBy(devices, (device) => device.typeId)
  return [...byType].map(([typeId, group]) => ({
    typeId,
    count: group.length,
    memoryMb: Math.min(...group.map((device) => device.memoryMb)),
    driverVersion: group[0]?.driverVersion ?? null,
    cudaVersion: group[0]?.cudaVersion ?? null,
    simulated: false,
  }))
}
