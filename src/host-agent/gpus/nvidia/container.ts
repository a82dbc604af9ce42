import type { GpuContainerConfig } from '../vendor.ts'

const VISIBLE_GPUS = 'NVIDIA_VISIBLE_DEVICES'
/** Unlike `none`, this also leaves out the driver's libraries, as without NVIDIA's runtime. */
const NO_GPU = 'void'

/**
 * Gives a container these GPUs (HOST-65). Where NVIDIA's container runtime is the engine's default, the variable alone selects GPUs, and
 * `all`, which CUDA images set, exposes every GPU of the machine: it is therefore set for every container.
 */
export function nvidiaContainerConfig(uuids: readonly string[]): GpuContainerConfig {
  return {
    env: { [VISIBLE_GPUS]: uuids.length > 0 ? uuids.join(',') : NO_GPU },
    hostConfig: uuids.length > 0 ? { DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: [...uuids], Capabilities: [['gpu']] }] } : {},
  }
}
