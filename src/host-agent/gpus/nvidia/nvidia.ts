import type { GpuVendor } from '../vendor.ts'
import { nvidiaContainerConfig } from './container.ts'
import { detectNvidia } from './detect.ts'
import { NvidiaHealth } from './health.ts'
import { ID_PREFIX, NVIDIA_SMI } from './nvidia-smi.ts'
import { judgeInstalledToolkit } from './toolkit.ts'
import { readNvidiaUse } from './use.ts'

export const NVIDIA: GpuVendor = {
  name: 'NVIDIA',
  tool: NVIDIA_SMI,
  idPrefix: ID_PREFIX,
  detect: detectNvidia,
  judgeToolkit: judgeInstalledToolkit,
  use: readNvidiaUse,
  health: () => new NvidiaHealth(),
  containerConfig: nvidiaContainerConfig,
}
