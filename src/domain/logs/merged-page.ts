import type { StoredLine } from '../text/log-stream.ts'
import type { Direction, FoundLines } from './line-page.ts'

/** Pages of several logs as one, in the order of time. Pure. */

/** The place of a line among those of several logs: by time, then by worker, then by number. */
export interface LinePlace {
  atMs: number
  workerId: string
  n: number
}

export interface MergedLine extends StoredLine {
  workerId: string
}

/** What one log had for a page. */
export interface WorkerPage extends FoundLines {
  workerId: string
}

export interface MergedPage {
  /** Oldest first. */
  lines: MergedLine[]
  /** Where the page goes on in its direction; null: nothing more is meant, as far as was looked. */
  next: LinePlace | null
  isTruncated: boolean
}

export function comparePlaces(a: LinePlace, b: LinePlace): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs
  if (a.workerId !== b.workerId) return a.workerId < b.workerId ? -1 : 1
  return a.n - b.n
}

/** `<` or `>`, then the place: what leads to the lines before or after it. */
export function placeCursor(direction: Direction, { atMs, workerId, n }: LinePlace): string {
  return `${direction === 'older' ? '<' : '>'}${atMs}.${workerId}.${n}`
}

export function readPlaceCursor(cursor: string): { direction: Direction; place: LinePlace } {
  const [atMs, workerId = '', n] = cursor.slice(1).split('.')
  return { direction: cursor.startsWith('<') ? 'older' : 'newer', place: { atMs: Number(atMs), workerId, n: Number(n) } }
}

/**
 * Joins what the logs had. Lines beyond the place at which some log was left before its end are not sure to be next, so the page ends there.
 * `after`: the place behind which it was read.
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
