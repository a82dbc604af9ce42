import type { StoredLine } from '../text/log-stream.ts'
import type { Direction, FoundLines } from './line-page.ts'

/** Merges pages of several logs into one, ordered by time. Pure. */

/** The place of a line among those of several logs: by time, then by worker, then by number. */
export interface LinePlace {
  atMs: number
  workerId: string
  n: number
}

/** A line of a worker among those of other workers. */
export interface MergedLine extends StoredLine {
  workerId: string
}

/** The page of one log. */
export interface WorkerPage extends FoundLines {
  workerId: string
}

/** A page of the lines of several logs. */
export interface MergedPage {
  /** Oldest first. */
  lines: MergedLine[]
  /** Where the page continues in its direction; null: the logs have no further matching lines, as far as they were searched. */
  next: LinePlace | null
  isTruncated: boolean
}

/** Order of the lines of several logs: by time, then worker, then number. */
export function comparePlaces(a: LinePlace, b: LinePlace): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs
  if (a.workerId !== b.workerId) return a.workerId < b.workerId ? -1 : 1
  return a.n - b.n
}

/** A cursor: `<` for the lines before a place or `>` for those after it, then the place. */
export function placeCursor(direction: Direction, { atMs, workerId, n }: LinePlace): string {
  return `${direction === 'older' ? '<' : '>'}${atMs}.${workerId}.${n}`
}

/** Parses a cursor of `placeCursor`, whose form was validated before. */
export function readPlaceCursor(cursor: string): { direction: Direction; place: LinePlace } {
  const [atMs, workerId = '', n] = cursor.slice(1).split('.')
  return { direction: cursor.startsWith('<') ? 'older' : 'newer', place: { atMs: Number(atMs), workerId, n: Number(n) } }
}

/**
 * Merges the pages of several logs. A log whose search stopped early may have matching lines beyond that place, so the merged page ends at
 * the first such place. `after`: the place where the pages begin, which is not included.
 */
export function mergePages(pages: readonly WorkerPage[], direction: Direction, after: LinePlace | null, limit: number): MergedPage {
  const sign = direction === 'older' ? -1 : 1
  const inOrder = (a: LinePlace, b: LinePlace) => sign * comparePlaces(a, b)
  const open = pages.filter(({ isEnd }) => !isEnd).sort((a, b) => inOrder(reached(a), reached(b)))
  const edge = open[0] ? reached(open[0]) : null
  const sure = pages
    .flatMap(({ workerId, lines }) => lines.map((line) => ({ ...line, workerId })))
    .filter((line) => (after === null || inOrder(line, after) > 0) && (edge === null || inOrder(line, edge) <= 0))
    .sort(inOrder)
  const lines = sure.slice(0, limit)
  const last = lines.at(-1)
  const isFull = sure.length >= limit
  const next = isFull && last ? (sure.length > limit || edge !== null ? last : null) : edge
  const isTruncated = !isFull && (open[0]?.isTruncated ?? false)
  return { lines: direction === 'older' ? lines.reverse() : lines, next, isTruncated }
}

function reached({ workerId, reachedN, reachedAtMs }: WorkerPage): LinePlace {
  return { atMs: reachedAtMs, workerId, n: reachedN }
}
