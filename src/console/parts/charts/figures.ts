import type { MetricsResponse } from '../../../contract/metrics.ts'
import { bytes } from '../format.ts'

type Series = MetricsResponse['series'][number]

/** A line of a chart; null is a point without a measurement. */
export interface ChartLine {
  title: string
  points: readonly (number | null)[]
}

/** Data of a chart; its lines share the unit. */
export interface ChartData {
  title: string
  unit: Series['unit'] | 'count'
  /** Seconds since 1970, one per point. */
  times: readonly number[]
  lines: readonly ChartLine[]
}

/** Metrics that share a chart, in display order. */
const CHARTS: readonly { title: string; names: readonly Series['name'][] }[] = [
  { title: 'GPU', names: ['gpu'] },
  { title: 'GPU memory', names: ['gpuMemory', 'gpuMemoryLimit'] },
  { title: 'CPU', names: ['cpu'] },
  { title: 'Memory', names: ['memory', 'memoryLimit'] },
  { title: 'Network', names: ['networkReceived', 'networkSent'] },
  { title: 'Disk activity', names: ['diskRead', 'diskWritten'] },
  { title: 'Container disk', names: ['disk', 'diskLimit'] },
]
const LABELS: Partial<Record<Series['name'], string>> = {
  memory: 'used',
  memoryLimit: 'limit',
  gpuMemory: 'used',
  gpuMemoryLimit: 'limit',
  networkReceived: 'received',
  networkSent: 'sent',
  diskRead: 'read',
  diskWritten: 'written',
  disk: 'used',
  diskLimit: 'limit',
}

/** Charts that have at least one value. */
export function chartsOf({ from, step, series }: MetricsResponse): ChartData[] {
  const start = Date.parse(from) / 1_000
  return CHARTS.flatMap(({ title, names }) => {
    const found = series.filter(({ name, points }) => names.includes(name) && points.some((value) => value !== null))
    const [first] = found
    if (first === undefined) return []
    const times = first.points.map((_, index) => start + index * step)
    return [{ title, unit: first.unit, times, lines: found.map((one) => ({ title: titleOf(one), points: one.points })) }]
  })
}

function titleOf({ name, gpu }: Series): string {
  return [gpu === undefined ? undefined : `GPU ${gpu}`, LABELS[name]].filter(Boolean).join(' ') || 'busy'
}

/** Returns a value with its unit, such as `40 %`; a missing value is a dash. */
export function figure(value: number | null | undefined, unit: ChartData['unit']): string {
  if (value === null || value === undefined) return '–'
  if (unit === 'percent') return `${Math.round(value)} %`
  if (unit === 'count') return String(Math.round(value))
  if (unit === 'bytes') return bytes(value)
  if (unit === 'bytesPerSecond') return `${bytes(value)}/s`
  return `${Math.round(value)} ${unit === 'celsius' ? '°C' : 'W'}`
}

/** Sentence that describes a chart to users who cannot see it. */
export function summaryOf({ unit, lines }: ChartData): string {
  return lines
    .map(({ title, points }) => {
      const known = points.filter((value) => value !== null)
      const mean = known.reduce((sum, value) => sum + value, 0) / known.length
      return `${title}: last ${figure(known.at(-1), unit)}, mean ${figure(mean, unit)}, maximum ${figure(Math.max(...known), unit)}`
    })
    .join('; ')
}
