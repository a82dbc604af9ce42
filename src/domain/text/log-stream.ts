import { LOG_TAIL_MAX, type LogQuery, type LogSourceParam } from '../../contract/pods/logs.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { eventText } from './sse.ts'

/** A line as the log keeps it. `n` counts the lines of this log from 1, without gaps. */
export interface StoredLine {
  n: number
  /** Clock of the host, milliseconds since the epoch. */
  atMs: number
  source: LogSourceParam
  line: string
}

/** Where a reader begins (LOG-2). */
export type LogStart =
  /** Strictly after a line; its time decides when the log has no such line. */
  | { kind: 'after-line'; n: number; atMs: number }
  /** Strictly after a time, as ids show it: in whole seconds. */
  | { kind: 'after-time'; atMs: number }
  | { kind: 'since'; atMs: number }
  | { kind: 'tail'; lines: number }

/** `Last-Event-ID` beats `since`, `since` beats `tail` (LOG-2). The texts have been checked against the contract. */
export function startOf(query: Pick<LogQuery, 'tail' | 'since'>, lastEventId: string | undefined): LogStart {
  if (lastEventId !== undefined) {
    const [time = '', counter] = lastEventId.split('/')
    const atMs = Date.parse(time)
    return counter === undefined ? { kind: 'after-time', atMs } : { kind: 'after-line', n: Number(counter), atMs }
  }
  if (query.since !== undefined) return { kind: 'since', atMs: Date.parse(query.since) }
  return { kind: 'tail', lines: query.tail }
}

/** The first instant whose shown time is later than that of `atMs`. */
export function nextShownSecond(atMs: number): number {
  return (Math.floor(atMs / 1000) + 1) * 1000
}

const COUNTER_DIGITS = 12

/** One server-sent event (LOG-3). */
export function logFrame(stored: StoredLine): string {
  const { atMs, source, line } = stored
  return eventText(JSON.stringify({ ts: formatTime(atMs), source, line }), { id: lineId(stored) })
}

/** By what a line is known to readers. */
export function lineId({ n, atMs }: Pick<StoredLine, 'n' | 'atMs'>): string {
  return `${formatTime(atMs)}/${String(n).padStart(COUNTER_DIGITS, '0')}`
}

/** Bounds of what one log keeps at hand (PP-60). */
export const LOG_KEPT_LINES = LOG_TAIL_MAX
export const LOG_KEPT_BYTES = 4 * 2 ** 20
/** A segment of older lines is written when it has one of these (PP-117). */
export const SEGMENT_LINES = 1_000
export const SEGMENT_BYTES = 256 * 1024
/** With a bucket that takes nothing, a log keeps this many times what it keeps at hand; then it drops its oldest lines all the same. */
export const BACKLOG_FACTOR = 4

/** A line and the bytes of the log up to its end, counted from the log's first line ever. */
export interface LinePosition {
  n: number
  endByte: number
}

/** The last of the `oldest` lines that has to go, so that the log ending in `newest` keeps `factor` times its bounds; null: none. */
export function lastToDrop(oldest: readonly LinePosition[], newest: LinePosition, factor = 1): number | null {
  return oldest.findLast((line) => isBeyond(line, newest, factor))?.n ?? null
}

/** Whether the oldest lines, a whole segment of them, lie beyond what is kept at hand. */
export function isSegmentDue(oldest: LinePosition, newest: LinePosition): boolean {
  const isLong = newest.n - oldest.n >= LOG_KEPT_LINES + SEGMENT_LINES - 1
  return isLong || newest.endByte - oldest.endByte >= LOG_KEPT_BYTES + SEGMENT_BYTES
}

/** The last line of the segment that begins with the oldest of some lines: by these lines alone, so a repeat makes the same segment. */
export function segmentEnd(oldest: readonly LinePosition[]): number | null {
  const startByte = oldest[0]?.endByte ?? 0
  return oldest.slice(0, SEGMENT_LINES).findLast(({ endByte }) => endByte - startByte < SEGMENT_BYTES)?.n ?? null
}

function isBeyond({ n, endByte }: LinePosition, newest: LinePosition, factor: number): boolean {
  return newest.n - n >= LOG_KEPT_LINES * factor || newest.endByte - endByte >= LOG_KEPT_BYTES * factor
}
