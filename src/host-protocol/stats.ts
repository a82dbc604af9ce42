import { z } from 'zod'

const Percent = z.number().int().min(0).max(100)
const Bytes = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const BytesPerSecond = z.number().min(0).max(Number.MAX_SAFE_INTEGER)

/** Present use of one GPU; values that its driver does not report are absent. */
export const GpuStats = z.object({
  util: Percent,
  memoryUtil: Percent,
  memoryBytes: Bytes.optional(),
  memoryLimitBytes: Bytes.optional(),
  temperatureCelsius: z.number().min(0).max(1_000).optional(),
  powerWatts: z.number().min(0).max(100_000).optional(),
})
export type GpuStats = z.infer<typeof GpuStats>

/** Rates of networks and disks; absent where unknown. */
const Traffic = {
  receivedPerSecond: BytesPerSecond.optional(),
  sentPerSecond: BytesPerSecond.optional(),
  readPerSecond: BytesPerSecond.optional(),
  writtenPerSecond: BytesPerSecond.optional(),
}

/** Present use of one workload, in percent of its resources. */
export const WorkloadStats = z.object({
  id: z.string().min(1).max(64),
  cpu: Percent.optional(),
  /** Percent of the time in which it was ready to run but waited, because others ran or its limit was reached. */
  cpuWaiting: Percent.optional(),
  memory: Percent.optional(),
  memoryBytes: Bytes.optional(),
  memoryLimitBytes: Bytes.optional(),
  ...Traffic,
  gpus: z.array(GpuStats).max(64).optional(),
  /** Number of its real GPUs, even of those that report no use. */
  gpuCount: z.number().int().min(0).max(1_024).optional(),
})
export type WorkloadStats = z.infer<typeof WorkloadStats>

/** Present use of the whole machine. */
export const MachineStats = z.object({
  cpu: Percent.optional(),
  memoryBytes: Bytes.optional(),
  memoryLimitBytes: Bytes.optional(),
  /** Use of the file system that workloads write to. */
  diskBytes: Bytes.optional(),
  diskLimitBytes: Bytes.optional(),
  ...Traffic,
  gpus: z
    .array(GpuStats.extend({ index: z.number().int().min(0).max(254) }))
    .max(64)
    .optional(),
})
export type MachineStats = z.infer<typeof MachineStats>
