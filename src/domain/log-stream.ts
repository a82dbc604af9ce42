import { LOG_TAIL_MAX, type LogQuery, type LogSourceParam } from '../contract/logs.ts'
import { formatTime } from '../contract/timestamps.ts'
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
export function logFrame({ n, atMs, source, line }: StoredLine): string {
  const ts = formatTime(atMs)
  return eventText(JSON.stringify({ ts, source, line }), { id: `${ts}/${String(n).padStart(COUNTER_DIGITS, '0')}` })
}

/** Bounds of what one log keeps (PP-60). */
export const LOG_KEPT_LINES = LOG_TAIL_MAX
export const LOG_KEPT_BYTES = 4 * 2 ** 20

/** A line and the bytes of the log up to its end, counted from the log's first line ever. */
export interface LinePosition {
  n: number
  endByte: number
}

/** The last of the `oldest` lines that has to go, so that the log ending in `newest` keeps its bounds; null: none. */
export function lastToDrop(oldest: readonly LinePosition[], newest: LinePosition): number | null {
  const isBeyond = ({ n, endByte }: LinePosition) => newest.n - n >= LOG_KEPT_LINES || newest.endByte - endByte >= LOG_KEPT_BYTES
  return oldest.findLast(isBeyond)?.n ?? null
}
