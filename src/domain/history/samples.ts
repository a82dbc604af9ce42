import type { MetricName } from '../../contract/enums.ts'
import type { GpuStats, MachineStats, WorkloadStats } from '../../host-protocol/stats.ts'
import { judgeIdle } from './idle.ts'
import { HOST_TRACK, type Reading, type Sample } from './metrics.ts'

type Traffic = Pick<MachineStats, 'receivedPerSecond' | 'sentPerSecond' | 'readPerSecond' | 'writtenPerSecond'>

/** The sample of a workload from a heartbeat. */
export function workloadSample(track: string, stats: WorkloadStats): Sample {
  const own = [
    ...stated(null, { cpu: stats.cpu, memory: stats.memoryBytes, memoryLimit: stats.memoryLimitBytes }),
    ...trafficOf(stats),
    ...(stats.gpus ?? []).flatMap((gpu, index) => gpuReadings(index, gpu)),
  ]
  return { track, readings: own, isIdle: judgeIdle(stats) }
}

/** The sample of the machine from a heartbeat. */
export function machineSample(stats: MachineStats): Sample {
  const { cpu, memoryBytes: memory, memoryLimitBytes: memoryLimit, diskBytes: disk, diskLimitBytes: diskLimit, gpus = [] } = stats
  const own = stated(null, { cpu, memory, memoryLimit, disk, diskLimit })
  return { track: HOST_TRACK, readings: [...own, ...trafficOf(stats), ...gpus.flatMap((gpu) => gpuReadings(gpu.index, gpu))], isIdle: null }
}

function trafficOf(stats: Traffic): Reading[] {
  const { receivedPerSecond, sentPerSecond, readPerSecond, writtenPerSecond } = stats
  return stated(null, {
    networkReceived: receivedPerSecond,
    networkSent: sentPerSecond,
    diskRead: readPerSecond,
    diskWritten: writtenPerSecond,
  })
}

function gpuReadings(gpu: number, { util, memoryBytes, memoryLimitBytes, temperatureCelsius, powerWatts }: GpuStats): Reading[] {
  return stated(gpu, {
    gpu: util,
    gpuMemory: memoryBytes,
    gpuMemoryLimit: memoryLimitBytes,
    gpuTemperature: temperatureCelsius,
    gpuPower: powerWatts,
  })
}

function stated(gpu: number | null, figures: { [Name in MetricName]?: number | undefined }): Reading[] {
  return Object.entries(figures).map(([metric, value]) => ({ metric: metric as MetricName, gpu, value: value ?? Number.NaN }))
}
