import type { MetricCode } from './metrics.ts'

/**
 * The retention and the resolution of samples (HIS-1). A chunk is stored in one row: `slots` steps of everything on the host. A chunk of
 * one level is one step of the next.
 */
export const LEVELS = [
  { stepMs: 5_000, slots: 12, chunks: 11 },
  { stepMs: 60_000, slots: 15, chunks: 97 },
  { stepMs: 900_000, slots: 24, chunks: 121 },
] as const
/** Index of a resolution, the finest first. */
export type Level = 0 | 1 | 2

/**
 * Upper bounds of a chunk (HIS-3): one track for each workload that a heartbeat can list and one for the machine, and as many columns as
 * fit into a row.
 */
export const MAX_TRACKS = 1_025
export const MAX_COLUMNS = 10_240

/** One metric of one track in a chunk; NaN at steps without a value. */
export interface Column {
  metric: MetricCode
  gpu: number | null
  average: Float64Array
  maximum: Float64Array
}

/** All columns of one workload, or of the machine. */
export interface Track {
  columns: Map<string, Column>
  /** Since when it is idle, as of the last sample in this chunk; null: it is busy, or this is unknown (HIS-8). */
  idleSinceMs: number | null
  /** The last step with a value; -1: none. */
  lastSlot: number
}

/** Samples of a time span at the resolution of one level (HIS-2). */
export interface Chunk {
  level: Level
  startMs: number
  tracks: Map<string, Track>
  columns: number
}

/** The duration of a chunk of this level, in milliseconds. */
export function chunkMs(level: Level): number {
  return LEVELS[level].stepMs * LEVELS[level].slots
}

/** The start of the chunk that contains an instant. */
export function chunkStart(level: Level, ms: number): number {
  return Math.floor(ms / chunkMs(level)) * chunkMs(level)
}

/** A chunk without samples that begins at `startMs`. */
export function emptyChunk(level: Level, startMs: number): Chunk {
  return { level, startMs, tracks: new Map(), columns: 0 }
}

/** The track with this id, added if it is new; null if the chunk has no room for another. */
export function trackOf(chunk: Chunk, id: string): Track | null {
  const known = chunk.tracks.get(id)
  if (known) return known
  if (chunk.tracks.size >= MAX_TRACKS) return null
  const track: Track = { columns: new Map(), idleSinceMs: null, lastSlot: -1 }
  chunk.tracks.set(id, track)
  return track
}

/** Sets the value of a step; a value that would need a column beyond `MAX_COLUMNS` is dropped. */
export function setFigure(
  chunk: Chunk,
  track: Track,
  { metric, gpu }: Pick<Column, 'metric' | 'gpu'>,
  slot: number,
  figure: { average: number; maximum: number },
): void {
  const key = `${metric}.${gpu ?? ''}`
  let column = track.columns.get(key)
  if (!column) {
    if (chunk.columns >= MAX_COLUMNS) return
    const { slots } = LEVELS[chunk.level]
    column = { metric, gpu, average: new Float64Array(slots).fill(Number.NaN), maximum: new Float64Array(slots).fill(Number.NaN) }
    track.columns.set(key, column)
    chunk.columns++
  }
  column.average[slot] = figure.average
  column.maximum[slot] = figure.maximum
  track.lastSlot = Math.max(track.lastSlot, slot)
}

/**
 * Makes room for `wanted` by evicting tracks of ended workloads, those with the oldest last sample in this chunk first (HIS-3). Tracks in
 * `wanted` are never evicted, however many other workloads start and end.
 */
export function evictTracks(chunk: Chunk, wanted: ReadonlySet<string>): void {
  const added = [...wanted].filter((id) => !chunk.tracks.has(id)).length
  const isFull = () => chunk.tracks.size + added > MAX_TRACKS || chunk.columns > MAX_COLUMNS / 2
  if (!isFull()) return
  const ended = [...chunk.tracks].filter(([id]) => !wanted.has(id)).toSorted(([, a], [, b]) => a.lastSlot - b.lastSlot)
  for (const [id, track] of ended) {
    if (!isFull()) return
    chunk.tracks.delete(id)
    chunk.columns -= track.columns.size
  }
}
