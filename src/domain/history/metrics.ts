import type { MetricName, MetricUnit } from '../../contract/enums.ts'

/** The metrics, in the order of responses. Codes are in stored data, so a code is never given to another metric. */
export const METRICS = [
  { code: 1, name: 'cpu', unit: 'percent' },
  { code: 2, name: 'memory', unit: 'bytes' },
  { code: 3, name: 'memoryLimit', unit: 'bytes' },
  { code: 4, name: 'networkReceived', unit: 'bytesPerSecond' },
  { code: 5, name: 'networkSent', unit: 'bytesPerSecond' },
  { code: 6, name: 'diskRead', unit: 'bytesPerSecond' },
  { code: 7, name: 'diskWritten', unit: 'bytesPerSecond' },
  { code: 8, name: 'disk', unit: 'bytes' },
  { code: 9, name: 'diskLimit', unit: 'bytes' },
  { code: 10, name: 'gpu', unit: 'percent' },
  { code: 11, name: 'gpuMemory', unit: 'bytes' },
  { code: 12, name: 'gpuMemoryLimit', unit: 'bytes' },
  { code: 13, name: 'gpuTemperature', unit: 'celsius' },
  { code: 14, name: 'gpuPower', unit: 'watts' },
] as const satisfies readonly { code: number; name: MetricName; unit: MetricUnit }[]

export type MetricCode = (typeof METRICS)[number]['code']

const BY_NAME = new Map<MetricName, MetricCode>(METRICS.map(({ name, code }) => [name, code]))

/** One measured value. */
export interface Reading {
  metric: MetricName
  /** The index of the GPU that it is about, from 0; null: it is not about a GPU. */
  gpu: number | null
  value: number
}

/** The readings of a workload or of the machine at one instant. */
export interface Sample {
  /** The id of the pod or worker, or `HOST_TRACK`. */
  track: string
  readings: readonly Reading[]
  /** Whether it is idle (HIS-8); null: unknown. */
  isIdle: boolean | null
}

/** The track of the machine itself, beside those of its workloads. */
export const HOST_TRACK = ''

/** The code under which a metric is stored. Throws for an unknown name. */
export function codeOf(name: MetricName): MetricCode {
  const code = BY_NAME.get(name)
  if (code === undefined) throw new Error(`no metric is called ${name}`)
  return code
}
