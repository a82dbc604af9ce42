import type { MetricName, MetricUnit } from '../../contract/enums.ts'

/** What is measured, in the order of the answer. A code stands in what is stored: it is never given to another metric. */
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

/** One reading. */
export interface Reading {
  metric: MetricName
  /** Of the GPUs that this is about, from 0; null: it is about no GPU. */
  gpu: number | null
  value: number
}

/** Readings of one instant, of a workload or of the machine. */
export interface Sample {
  /** Whose they are (`HOST_TRACK`, or the id of a pod or worker). */
  track: string
  readings: readonly Reading[]
  /** Whether it does nothing (HIS-8); null: that cannot be told. */
  isIdle: boolean | null
}

/** The machine itself, among what runs on it. */
export const HOST_TRACK = ''

export function codeOf(name: MetricName): MetricCode {
  const code = BY_NAME.get(name)
  if (code === undefined) throw new Error(`no metric is called ${name}`)
  return code
}
