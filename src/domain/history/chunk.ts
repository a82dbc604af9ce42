import type { MetricCode } from './metrics.ts'

/**
 * How long samples are kept, and how finely (HIS-1). A chunk is what is stored in one row: so many steps, of everything on the host. A chunk of
 * one level is one step of the next.
 */
export const LEVELS = [
  { stepMs: 5_000, slots: 12, chunks: 11 },
  { stepMs: 60_000, slots: 15, chunks: 97 },
  { stepMs: 900_000, slots: 24, chunks: 121 },
] as const
export type Level = 0 | 1 | 2

/** What a chunk may hold at most (HIS-3): as many tracks as a beat tells of and the machine, and no more columns than fit into a row. */
export const MAX_TRACKS = 1_025
export const MAX_COLUMNS = 10_240

/** One metric of one track in a chunk; NaN where there was none. */
export interface Column {
  metric: MetricCode
  gpu: number | null
  average: Float64Array
  maximum: Float64Array
}

/** Everything about one workload, or about the machine. */
export interface Track {
  columns: Map<string, Column>
  /** Since when it does nothing; null: it does something, or that is not known (HIS-8). Of the last sample in this chunk. */
  idleSinceMs: number | null
  /** The last step that holds anything; -1 for none. */
  lastSlot: number
}

export interface Chunk {
  level: Level
  startMs: number
  tracks: Map<string, Track>
  columns: number
}

/** How long a chunk of this level lasts. */
export function chunkMs(level: Level): number {
  return LEVELS[level].stepMs * LEVELS[level].slots
}

/** The chunk that an instant is in. */
export function chunkStart(level: Level, ms: number): number {
  return Math.floor(ms / chunkMs(level)) * chunkMs(level)
}

export function emptyChunk(level: Level, startMs: number): Chunk {
  return { level, startMs, tracks: new Map(), columns: 0 }
}

/** The track, made where it is new and there is room for one. */
export function trackOf(chunk: Chunk, id: string): Track | null {
  const known = chunk.tracks.get(id)
  if (known) return known
  if (chunk.tracks.size >= MAX_TRACKS) return null
  const track: Track = { columns: new Map(), idleSinceMs: null, lastSlot: -1 }
  chunk.tracks.set(id, track)
  return track
}

/** Puts a figure where it belongs; what there is no room for is left out. */
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
 * Makes room for `wanted`: of what has ended, the part of this chunk goes whose end is longest ago (HIS-3). What lives is never pushed out by what
 * others start and end.
 */
export function keepRoom(chunk: Chunk, wanted: ReadonlySet<string>): void {
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
