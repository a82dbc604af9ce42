import type { Query } from '../../../client/client.ts'

const NEWEST = 1_000
const MOST = 5_000
const MINUTE_MS = 60_000

/** Where a view begins; the value stands in the address. */
export const SINCE_CHOICES = [
  { value: '', label: 'Newest 1,000 lines' },
  { value: 'all', label: 'Newest 5,000 lines' },
  { value: '15m', label: 'Last 15 minutes' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
] as const

const SPANS_MS: Readonly<Record<string, number>> = { '15m': 15 * MINUTE_MS, '1h': 60 * MINUTE_MS, '24h': 24 * 60 * MINUTE_MS }
/** How much of what came before a line is shown with it. */
const BEFORE_LINE_MS = MINUTE_MS

/** What is asked of the plane for a view that begins there; a line that is linked to decides before all else. */
export function logQuery(since: string, source: string, lineId: string, nowMs: number): Query {
  const sourceQuery = source === '' ? {} : { source }
  const lineMs = Date.parse(lineId.replace(/\/.*/, ''))
  if (!Number.isNaN(lineMs)) return { ...sourceQuery, since: instant(lineMs - BEFORE_LINE_MS) }
  const spanMs = SPANS_MS[since]
  if (spanMs !== undefined) return { ...sourceQuery, since: instant(nowMs - spanMs) }
  return { ...sourceQuery, tail: since === 'all' ? MOST : NEWEST }
}

const instant = (ms: number) => new Date(Math.max(0, ms)).toISOString()
