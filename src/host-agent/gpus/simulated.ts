import type { GpuInventory } from '../../host-protocol/messages.ts'
import { OperatorError } from '../../node/fail.ts'

/** Capacity that each simulated GPU adds, so that a pod of usual shape fits on any laptop. */
export const SIMULATED_PER_GPU = { vcpus: 16, memoryMb: 128 * 1024, diskGb: 500 } as const

/** Versions that a current host reports (PLANE-22), so that requests with a minimum CUDA version can be tried out. */
const SIMULATED_DRIVER = { driverVersion: '580.95.05', cudaVersion: '13.0' } as const

const COUNT_MAX = 1_024
const MEMORY_GB: Record<string, number> = {
  'NVIDIA L4': 24,
  'NVIDIA L40': 48,
  'NVIDIA L40S': 48,
  'NVIDIA A40': 48,
  'NVIDIA GeForce RTX 3090': 24,
  'NVIDIA GeForce RTX 4090': 24,
  'NVIDIA GeForce RTX 5090': 32,
  'NVIDIA RTX A6000': 48,
  'NVIDIA A100 80GB PCIe': 80,
  'NVIDIA A100-SXM4-80GB': 80,
  'NVIDIA H100 PCIe': 80,
  'NVIDIA H100 80GB HBM3': 80,
  'NVIDIA H200': 141,
  'NVIDIA B200': 180,
}
const UNKNOWN_MEMORY_GB = 24

/**
 * Parses `--simulate-gpus "NVIDIA L4:2,NVIDIA GeForce RTX 4090:4"`; a name without a count means one. Throws an `OperatorError` for another
 * form.
 */
export function parseSimulatedGpus(text: string): GpuInventory[] {
  const counts = new Map<string, number>()
  for (const part of text.split(',').map((entry) => entry.trim())) {
    if (part === '') continue
    const [, typeId = '', digits = '1'] = /^(.*?)(?::\s*(\d+))?$/.exec(part) ?? []
    const count = Number(digits)
    if (typeId.trim() === '' || /[:=]/.test(typeId) || count < 1 || count > COUNT_MAX) {
      throw new OperatorError(
        `--simulate-gpus has '${part}'${part.includes('=') ? ' with a "="' : ''}; write "<GPU name>:<count from 1 to ${COUNT_MAX}>", such as "NVIDIA L4:2", separated by commas`,
      )
    }
    counts.set(typeId.trim(), (counts.get(typeId.trim()) ?? 0) + count)
  }
  return [...counts].map(([typeId, count]) => ({
    typeId,
    count,
    memoryMb: (MEMORY_GB[typeId] ?? UNKNOWN_MEMORY_GB) * 1024,
    ...SIMULATED_DRIVER,
    simulated: true,
  }))
}
