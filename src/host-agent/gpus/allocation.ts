import type { GpuDevice } from './device.ts'

/** The GPUs of a machine that can be allocated to containers. */
export interface HostGpus {
  devices: readonly GpuDevice[]
  /** GPU types that this host only simulates; containers get no device for them. */
  simulatedTypes: ReadonlySet<string>
}

/**
 * Chooses devices for a workload: ids of free GPUs of its type, an empty list when that type is simulated, undefined when too few are free.
 * Lowest first, so that neighbours (often on one switch) stay together.
 */
export function chooseGpus(
  gpus: HostGpus,
  inUse: ReadonlySet<string>,
  wanted: { typeId: string; count: number } | null,
): string[] | undefined {
  if (wanted === null) return []
  const free = gpus.devices.filter((device) => device.typeId === wanted.typeId && !inUse.has(device.uuid))
  if (free.length >= wanted.count) return free.slice(0, wanted.count).map((device) => device.uuid)
  return gpus.simulatedTypes.has(wanted.typeId) ? [] : undefined
}
