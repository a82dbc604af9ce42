import type { MetricName } from '../../contract/enums.ts'
import { type Chunk, type Column, LEVELS, type Level } from './chunk.ts'
import { METRICS } from './metrics.ts'

/** Upper bound of points in one response (HIS-5). */
export const MAX_POINTS = 1_500
const DEFAULT_SPAN_MS = 3_600_000
/** The retention of the coarsest level. */
export const RETENTION_MS = 30 * 86_400_000

/** The requested time and step; null: the default. */
export interface WindowQuery {
  fromMs: number | null
  toMs: number | null
  stepMs: number | null
}

/** The points of a response: `count` of them from `fromMs` on, each `stepMs` long, from samples of one level. */
export interface Window {
  fromMs: number
  stepMs: number
  count: number
  level: Level
}

/** One metric over a window. */
export interface Series {
  metric: MetricName
  gpu: number | null
  /** Means; null: there are no samples of that time. */
  points: (number | null)[]
  /** The maximum within each. */
  maxima: (number | null)[]
}

/**
 * The window for a query (HIS-5). A step becomes longer if it would make too many points, or if no data that fine is retained for that
 * time. The level is the coarsest one whose step is no longer than the result. Null: the time ends before it begins.
 */
export function windowOf({ fromMs, toMs, stepMs }: WindowQuery, nowMs: number): Window | null {
  const end = Math.min(toMs ?? nowMs, nowMs)
  const begin = Math.max(fromMs ?? end - DEFAULT_SPAN_MS, nowMs - RETENTION_MS)
  if ((fromMs ?? begin) >= (toMs ?? nowMs)) return null
  const span = Math.max(0, end - begin)
  const least = Math.max(stepMs ?? 0, finestAt(nowMs - begin), span / (MAX_POINTS - 1))
  const level: Level = least >= LEVELS[2].stepMs ? 2 : least >= LEVELS[1].stepMs ? 1 : 0
  const own = LEVELS[level].stepMs
  const step = Math.ceil(least / own) * own
  const first = Math.floor(begin / step) * step
  return { fromMs: first, stepMs: step, count: Math.max(0, Math.ceil((end - first) / step)), level }
}

/** The finest step that is retained for data of this age. */
function finestAt(ageMs: number): number {
  return (LEVELS.find(({ stepMs, slots, chunks }) => ageMs <= stepMs * slots * (chunks - 1)) ?? LEVELS[2]).stepMs
}

/** One track of these chunks, all of the window's level, as columns (HIS-4). */
export function seriesOf(chunks: readonly Chunk[], track: string, window: Window): Series[] {
  const found = new Map<string, Counted>()
  for (const { startMs, tracks } of chunks) {
    for (const [key, column] of tracks.get(track)?.columns ?? []) {
      const series = found.get(key) ?? emptySeries(column, window.count)
      if (addColumn(series, column, startMs, window)) found.set(key, series)
    }
  }
  const all = [...found.values()].map(({ counts: _counts, ...series }) => series)
  return inOrder(window.stepMs === LEVELS[0].stepMs ? all.map(bridged) : all)
}

type Counted = Series & { counts: number[] }

/** Adds a column's values to a series. Returns whether any of them is in the window. */
function addColumn({ points, maxima, counts }: Counted, { average, maximum }: Column, startMs: number, window: Window): boolean {
  let isIn = false
  for (const [slot, value] of average.entries()) {
    const at = Math.floor((startMs + slot * LEVELS[window.level].stepMs - window.fromMs) / window.stepMs)
    if (Number.isNaN(value) || at < 0 || at >= window.count) continue
    const count = (counts[at] ?? 0) + 1
    const previous = points[at] ?? 0
    counts[at] = count
    points[at] = previous + (value - previous) / count
    maxima[at] = Math.max(maxima[at] ?? 0, maximum[slot] ?? value)
    isIn = true
  }
  return isIn
}

function emptySeries({ metric: code, gpu }: Column, count: number): Counted {
  const metric = METRICS.find((known) => known.code === code)?.name ?? 'cpu'
  const points = new Array<null>(count).fill(null)
  return { metric, gpu, points, maxima: [...points], counts: new Array<number>(count).fill(0) }
}

// Heartbeats come every 4 to 6 s, so a step of 5 s may have none. A single step without a value between two others is filled.
function bridged(series: Series): Series {
  const fill = (points: (number | null)[]) =>
    points.map((point, at) => (point === null && points[at - 1] != null ? (points[at + 1] ?? null) : point))
  return { ...series, points: fill(series.points), maxima: fill(series.maxima) }
}

/**
 * Joins the series of several hosts over the same window: where two have a value for a step, their mean, and the higher maximum (HIS-6).
 */
export function joinSeries(parts: readonly (readonly Series[])[]): Series[] {
  const joined = Map.groupBy(parts.flat(), ({ metric, gpu }) => `${metric}.${gpu ?? ''}`)
  return inOrder([...joined.values()].map((same) => same.reduce(merge)))
}

function merge(a: Series, b: Series): Series {
  const both = (choose: (x: number, y: number) => number, x: (number | null)[], y: (number | null)[]) =>
    x.map((value, at) => {
      const other = y[at] ?? null
      return value === null || other === null ? (value ?? other) : choose(value, other)
    })
  return { ...a, points: both((x, y) => (x + y) / 2, a.points, b.points), maxima: both(Math.max, a.maxima, b.maxima) }
}

function inOrder(series: readonly Series[]): Series[] {
  const place = ({ metric, gpu }: Series) => METRICS.findIndex(({ name }) => name === metric) * 256 + (gpu ?? 0)
  return series.toSorted((a, b) => place(a) - place(b))
}
