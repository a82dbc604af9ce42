import type { LogLinesQuery } from '../../contract/logs/lines.ts'
import type { LogSourceParam } from '../../contract/pods/logs.ts'
import type { StoredLine } from '../text/log-stream.ts'

/** Which way a page is read. */
export type Direction = 'older' | 'newer'

/** Which lines are meant. Times in milliseconds since the epoch: the first is included, the last is not. */
export interface LineFilter {
  source: LogSourceParam | null
  /** In lower case. */
  text: string | null
  sinceMs: number | null
  untilMs: number | null
}

/** What a page is to hold. */
export interface LineWish {
  filter: LineFilter
  direction: Direction
  /** Strictly before or after this line; null: from the end of the log that the direction leads away from. */
  fromN: number | null
  limit: number
}

/** Some lines in their order, and how far was looked for them. */
export interface FoundLines {
  lines: StoredLine[]
  /** The last line that was looked at in the direction, or the one at which it began. */
  reachedN: number
  /** Its time. */
  reachedAtMs: number
  /** Nothing more is meant in this direction, as far as the log goes now. */
  isEnd: boolean
  /** The search was cut short. */
  isTruncated: boolean
  /** The first and the last line that the log has. */
  oldestN: number
  newestN: number
}

export function lineFilterOf({ source, q, since, until }: Pick<LogLinesQuery, 'source' | 'q' | 'since' | 'until'>): LineFilter {
  return {
    source: source ?? null,
    text: q?.toLowerCase() ?? null,
    sinceMs: since === undefined ? null : Date.parse(since),
    untilMs: until === undefined ? null : Date.parse(until),
  }
}

export function isMeantLine({ atMs, source, line }: StoredLine, filter: LineFilter): boolean {
  if (filter.source !== null && source !== filter.source) return false
  if (filter.sinceMs !== null && atMs < filter.sinceMs) return false
  if (filter.untilMs !== null && atMs >= filter.untilMs) return false
  return filter.text === null || line.toLowerCase().includes(filter.text)
}

/**
 * What a query wants read: one page, or two halves around a line. A page without a cursor begins where its times begin, else with the newest
 * lines.
 */
export function wishesOf(query: LogLinesQuery): LineWish[] {
  const filter = lineFilterOf(query)
  const { limit, cursor, around } = query
  if (cursor !== undefined) {
    return [{ filter, direction: cursor.startsWith('<') ? 'older' : 'newer', fromN: Number(cursor.slice(1)), limit }]
  }
  if (around !== undefined) {
    const before = Math.ceil(limit / 2)
    const older: LineWish = { filter, direction: 'older', fromN: around + 1, limit: before }
    return limit > before ? [older, { filter, direction: 'newer', fromN: around, limit: limit - before }] : [older]
  }
  return [{ filter, direction: filter.sinceMs === null ? 'older' : 'newer', fromN: null, limit }]
}

export const olderThan = (n: number): string => `<${n}`
export const newerThan = (n: number): string => `>${n}`
