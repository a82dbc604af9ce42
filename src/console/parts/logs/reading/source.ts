import type { ApiClient } from '../../../../client/client.ts'
import type { LogSource } from './follower.ts'
import { type LogOrigin, PAGE_LINES, type PageQuery } from './origins.ts'

const MINUTE_MS = 60_000

/** Choices for the start of a view; the value is stored in the address. */
export const SINCE_CHOICES = [
  { value: '', label: 'The newest lines' },
  { value: '15m', label: 'Last 15 minutes' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
] as const

const SPANS_MS: Readonly<Record<string, number>> = { '15m': 15 * MINUTE_MS, '1h': 60 * MINUTE_MS, '24h': 24 * 60 * MINUTE_MS }

/** Filter and position of a log view. */
export interface Wanted {
  source: string
  since: string
  /** Only lines with this text; empty: all. */
  text: string
  /** Id of a line that is shown with its neighbors; takes precedence over `since`. */
  around: string
}

/** Filter as query parameters of the plane. */
export function pageQuery({ source, since, text, around }: Wanted, span: LogOrigin['span'], nowMs: number): Omit<PageQuery, 'limit'> {
  const spanMs = SPANS_MS[since]
  const from = span?.since ?? (spanMs === undefined || around !== '' ? undefined : new Date(nowMs - spanMs).toISOString())
  return {
    ...(source !== '' && { source }),
    ...(text !== '' && { q: text }),
    ...(from !== undefined && { since: from }),
    ...(span?.until && { until: span.until }),
  }
}

/** Source for one log and filter: its pages and its stream. */
export function sourceOf(api: ApiClient, of: LogOrigin, wanted: Wanted, nowMs: number): LogSource {
  const query = pageQuery(wanted, of.span, nowMs)
  const text = wanted.text.toLowerCase()
  const sinceMs = query.since === undefined ? 0 : Date.parse(query.since)
  return {
    isNumbered: of.isNumbered,
    isMiddle: wanted.around !== '',
    isOver: typeof of.span?.until === 'string',
    first: (signal) =>
      wanted.around === ''
        ? of.page(api, { ...query, limit: PAGE_LINES }, signal)
        : of.around(api, wanted.around, { ...query, limit: PAGE_LINES }, signal),
    page: (more, signal) => of.page(api, { ...query, ...more }, signal),
    all: (cursor, signal) => of.page(api, { cursor, limit: PAGE_LINES }, signal),
    follow: (from, signal, onLink) => of.follow(api, from, signal, onLink),
    isMeant: ({ source, line, ts }) =>
      (wanted.source === '' || source === wanted.source) &&
      (text === '' || line.toLowerCase().includes(text)) &&
      (sinceMs === 0 || Date.parse(ts) >= Math.floor(sinceMs / 1_000) * 1_000),
  }
}
