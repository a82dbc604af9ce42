import type { LogLinesQuery } from '../../contract/logs/lines.ts'
import type { LogSourceParam } from '../../contract/logs/stream.ts'
import type { StoredLine } from '../text/log-stream.ts'

/** The direction in which a page is read. */
export type Direction = 'older' | 'newer'

/** Selects lines. Times in milliseconds since the epoch: `sinceMs` is included, `untilMs` is not. */
export interface LineFilter {
  source: LogSourceParam | null
  /** In lower case. */
  text: string | null
  sinceMs: number | null
  untilMs: number | null
}

/** The request for one page of lines. */
export interface LineQuery {
  filter: LineFilter
  direction: Direction
  /** Strictly before or after this line; null: from the newest line if `older`, from the oldest if `newer`. */
  fromN: number | null
  limit: number
}

/** Lines in their order, and how far the search went. */
export interface FoundLines {
  lines: StoredLine[]
  /** The last line that was examined in the direction, or the one at which the search began. */
  reachedN: number
  /** The time of that line. */
  reachedAtMs: number
  /** The log has no further matching lines in this direction, up to its current end. */
  isEnd: boolean
  /** The search was cut short. */
  isTruncated: boolean
  /** The numbers of the first and the last line in the log. */
  oldestN: number
  newestN: number
}

/** Filter of a query; null in a member that the query leaves out. */
export function lineFilterOf({ source, q, since, until }: Pick<LogLinesQuery, 'source' | 'q' | 'since' | 'until'>): LineFilter {
  return {
    source: source ?? null,
    text: q?.toLowerCase() ?? null,
    sinceMs: since === undefined ? null : Date.parse(since),
    untilMs: until === undefined ? null : Date.parse(until),
  }
}

/** Whether a line passes the filter. Its text is compared without regard to case; `untilMs` is exclusive. */
export function isMeantLine({ atMs, source, line }: StoredLine, filter: LineFilter): boolean {
  if (filter.source !== null && source !== filter.source) return false
  if (filter.sinceMs !== null && atMs < filter.sinceMs) return false
  if (filter.untilMs !== null && atMs >= filter.untilMs) return false
  return filter.text === null || line.toLowerCase().includes(filter.text)
}

/**
 * The pages that a query reads: one, or two halves around a line. A page without a cursor begins at `since` if it is set, else with the
 * newest lines.
 */
export function lineQueriesOf(query: LogLinesQuery): LineQuery[] {
  const filter = lineFilterOf(query)
  const { limit, cursor, around } = query
  if (cursor !== undefined) {
    return [{ filter, direction: cursor.startsWith('<') ? 'older' : 'newer', fromN: Number(cursor.slice(1)), limit }]
  }
  if (around !== undefined) {
    const before = Math.ceil(limit / 2)
    const older: LineQuery = { filter, direction: 'older', fromN: around + 1, limit: before }
    return limit > before ? [older, { filter, direction: 'newer', fromN: around, limit: limit - before }] : [older]
  }
  return [{ filter, direction: filter.sinceMs === null ? 'older' : 'newer', fromN: null, limit }]
}

/** Cursor of the lines before line number `n`. */
export const olderThan = (n: number): string => `<${n}`
/** Cursor of the lines after line number `n`. */
export const newerThan = (n: number): string => `>${n}`
