import type { Log } from '../log.ts'
import type { GpuDevice } from './device.ts'
import { NVIDIA } from './nvidia/nvidia.ts'
import type { GpuContainerConfig, GpuUse, GpuVendor, ToolkitOptions } from './vendor.ts'

/** All vendors whose GPUs this agent can offer. */
export const GPU_VENDORS: readonly GpuVendor[] = [NVIDIA]

/** Returns the vendors of these devices. */
export function vendorsOf(devices: readonly GpuDevice[], vendors = GPU_VENDORS): GpuVendor[] {
  return vendors.filter((vendor) => devicesOf(vendor, devices).length > 0)
}

/** Returns the GPUs of this machine. A vendor whose driver fails has none, and the log says why. */
export async function detectGpus(log: Log, vendors = GPU_VENDORS): Promise<GpuDevice[]> {
  const found = vendors.map((vendor) => vendor.detect((error) => log.warn(`${vendor.tool} failed; no GPU is offered`, { error })))
  return (await Promise.all(found)).flat()
}

/** Returns the devices that containers may have (HOST-90), and the problems of toolkits, described for the operator. */
export async function offerGpus(
  devices: readonly GpuDevice[],
  options: ToolkitOptions,
  vendors = GPU_VENDORS,
): Promise<{ devices: GpuDevice[]; missing: string[] }> {
  const judged = await Promise.all(
    vendorsOf(devices, vendors).map(async (vendor) => ({ own: devicesOf(vendor, devices), ...(await vendor.judgeToolkit(options)) })),
  )
  return {
    devices: judged.flatMap(({ own, offersGpus }) => (offersGpus ? own : [])),
    missing: judged.flatMap(({ missing }) => missing ?? []),
  }
}

/** Returns the use of all GPUs by id; those of a driver that does not answer are left out. */
export async function readGpuUse(vendors = GPU_VENDORS): Promise<Map<string, GpuUse>> {
  const read = await Promise.allSettled(vendors.map((vendor) => vendor.use()))
  return new Map(read.flatMap((answer) => (answer.status === 'fulfilled' ? [...answer.value] : [])))
}

/** Gives a container these GPUs and no others, of any vendor (HOST-65). */
export function gpuContainerConfig(uuids: readonly string[], vendors = GPU_VENDORS): GpuContainerConfig {
  const parts = vendors.map((vendor) => vendor.containerConfig(uuids.filter((uuid) => uuid.startsWith(vendor.idPrefix))))
  // The GPUs of a container have one type, so only one vendor requests devices.
  const hostConfig = parts.find((part) => Object.keys(part.hostConfig).length > 0)?.hostConfig ?? {}
  return { env: Object.fromEntries(parts.flatMap(({ env }) => Object.entries(env))), hostConfig }
}

function devicesOf({ idPrefix }: GpuVendor, devices: readonly GpuDevice[]): GpuDevice[] {
  return devices.filter(({ uuid }) => uuid.startsWith(idPrefix))
}
