import { LOG_TAIL_MAX, type LogQuery, type LogSourceParam } from '../../contract/logs/stream.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { eventText } from './sse.ts'

/** A line as stored. `n` counts the lines of this log from 1, without gaps. */
export interface StoredLine {
  n: number
  /** By the clock of the host, milliseconds since the epoch. */
  atMs: number
  source: LogSourceParam
  line: string
}

/** Position from which a reader starts (LOG-2). */
export type LogStart =
  /** Strictly after a line; its time decides when the log does not have that line. */
  | { kind: 'after-line'; n: number; atMs: number }
  /** Strictly after a time, in whole seconds as in line ids. */
  | { kind: 'after-time'; atMs: number }
  | { kind: 'since'; atMs: number }
  | { kind: 'tail'; lines: number }

/**
 * Start of a reader: `Last-Event-ID` takes precedence over `since`, and `since` over `tail` (LOG-2). The texts have been checked against
 * the contract.
 */
export function startOf(query: Pick<LogQuery, 'tail' | 'since'>, lastEventId: string | undefined): LogStart {
  if (lastEventId !== undefined) {
    const [time = '', counter] = lastEventId.split('/')
    const atMs = Date.parse(time)
    return counter === undefined ? { kind: 'after-time', atMs } : { kind: 'after-line', n: Number(counter), atMs }
  }
  if (query.since !== undefined) return { kind: 'since', atMs: Date.parse(query.since) }
  return { kind: 'tail', lines: query.tail }
}

/** Start of the second after that of `atMs`, milliseconds since the epoch. */
export function nextShownSecond(atMs: number): number {
  return (Math.floor(atMs / 1000) + 1) * 1000
}

const COUNTER_DIGITS = 12

/** One server-sent event (LOG-3). */
export function logFrame(stored: StoredLine): string {
  const { atMs, source, line } = stored
  return eventText(JSON.stringify({ ts: formatTime(atMs), source, line }), { id: lineId(stored) })
}

/** Id of a line for readers: its time and its number. */
export function lineId({ n, atMs }: Pick<StoredLine, 'n' | 'atMs'>): string {
  return `${formatTime(atMs)}/${String(n).padStart(COUNTER_DIGITS, '0')}`
}

/** Limits of the lines that one log holds in its object (LOG-10). */
export const LOG_RETAINED_LINES = LOG_TAIL_MAX
export const LOG_RETAINED_BYTES = 4 * 2 ** 20
/** A segment of older lines is written when it reaches one of these limits (LOG-20). */
export const SEGMENT_LINES = 1_000
export const SEGMENT_BYTES = 256 * 1024
/** While the bucket rejects segments, a log holds this multiple of its limits; beyond it, it drops its oldest lines. */
export const BACKLOG_FACTOR = 4

/** A line, and the bytes of the log up to its end, counted from the first line that the log ever had. */
export interface LinePosition {
  n: number
  endByte: number
}

/** The last of the `oldest` lines to drop, so that the log ending in `newest` stays within `factor` times its limits; null: none. */
export function lastToDrop(oldest: Iterable<LinePosition>, newest: LinePosition, factor = 1): LinePosition | null {
  let last: LinePosition | null = null
  for (const line of oldest) {
    if (!isBeyond(line, newest, factor)) break
    last = line
  }
  return last
}

/** The earliest position that the line after `last` can have: that of an empty line. */
export function nextAfter({ n, endByte }: LinePosition): LinePosition {
  return { n: n + 1, endByte }
}

/** Whether the log exceeds its limits by a whole segment of its oldest lines. */
export function isSegmentDue(oldest: LinePosition, newest: LinePosition): boolean {
  const isLong = newest.n - oldest.n >= LOG_RETAINED_LINES + SEGMENT_LINES - 1
  return isLong || newest.endByte - oldest.endByte >= LOG_RETAINED_BYTES + SEGMENT_BYTES
}

/**
 * Last line of the segment that begins with the oldest of these lines. It depends on these lines alone, so a retry writes the same segment.
 */
export function segmentEnd(oldest: readonly LinePosition[]): number | null {
  const startByte = oldest[0]?.endByte ?? 0
  return oldest.slice(0, SEGMENT_LINES).findLast(({ endByte }) => endByte - startByte < SEGMENT_BYTES)?.n ?? null
}

function isBeyond({ n, endByte }: LinePosition, newest: LinePosition, factor: number): boolean {
  return newest.n - n >= LOG_RETAINED_LINES * factor || newest.endByte - endByte >= LOG_RETAINED_BYTES * factor
}
