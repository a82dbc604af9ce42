import { type Chunk, type Column, chunkMs, evictTracks, LEVELS, setFigure, trackOf } from './chunk.ts'
import { type Idleness, idleSince } from './idle.ts'
import { codeOf, type Sample } from './metrics.ts'

/**
 * Adds the samples of an instant to its chunk (HIS-2). A second sample in the same step replaces the first, so that a repeated heartbeat
 * changes nothing. Idle time continues from the previous chunk.
 */
export function noteSamples(chunk: Chunk, previous: Chunk | null, samples: readonly Sample[], nowMs: number): void {
  const slot = Math.floor((nowMs - chunk.startMs) / LEVELS[chunk.level].stepMs)
  evictTracks(chunk, new Set(samples.map(({ track }) => track)))
  for (const { track: id, readings, isIdle } of samples) {
    const track = trackOf(chunk, id)
    if (!track) continue
    track.idleSinceMs = idleSince(idlenessIn(chunk, id) ?? idlenessIn(previous, id), isIdle, nowMs)
    for (const { metric, gpu, value } of readings) {
      if (!Number.isFinite(value)) continue
      setFigure(chunk, track, { metric: codeOf(metric), gpu }, slot, { average: value, maximum: value })
    }
  }
}

function idlenessIn(chunk: Chunk | null, id: string): Idleness | null {
  const track = chunk?.tracks.get(id)
  if (!chunk || !track || track.lastSlot < 0) return null
  return { sinceMs: track.idleSinceMs, seenMs: chunk.startMs + (track.lastSlot + 1) * LEVELS[chunk.level].stepMs }
}

/**
 * Stores a chunk as one step of a chunk of the next level (HIS-2): the mean of its steps that have a value, and their maximum. The step is
 * set, not added to, so that this may be repeated. Throws for a chunk that is no step of the other.
 */
export function rollUp(fine: Chunk, coarse: Chunk): void {
  const slot = Math.floor((fine.startMs - coarse.startMs) / LEVELS[coarse.level].stepMs)
  if (slot < 0 || fine.startMs >= coarse.startMs + chunkMs(coarse.level)) throw new Error('a chunk is no step of that one')
  evictTracks(coarse, new Set(fine.tracks.keys()))
  for (const [id, { columns }] of fine.tracks) {
    const track = columns.size > 0 ? trackOf(coarse, id) : null
    if (!track) continue
    for (const column of columns.values()) {
      const figure = summarise(column)
      if (figure) setFigure(coarse, track, column, slot, figure)
    }
  }
}

function summarise({ average, maximum }: Column): { average: number; maximum: number } | null {
  let sum = 0
  let count = 0
  let most = Number.NEGATIVE_INFINITY
  for (const [slot, value] of average.entries()) {
    if (Number.isNaN(value)) continue
    sum += value
    count++
    most = Math.max(most, maximum[slot] ?? value)
  }
  return count === 0 ? null : { average: sum / count, maximum: most }
}
