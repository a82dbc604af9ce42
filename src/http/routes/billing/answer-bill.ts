import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { BillingInterval } from '../../../contract/billing/bills.ts'
import { type Cell, formatCsv } from '../../../domain/text/csv.ts'
import type { AppEnv } from '../../app-env.ts'

const CSV = 'text/csv'
const JSON_TYPE = 'application/json'
const RANGE = ['startTime', 'endTime']
/** An interval has times of its own, beside those of its record. */
const INTERVAL_COLUMNS = Object.keys(BillingInterval.shape).map((name) =>
  RANGE.includes(name) ? `interval${name[0]?.toUpperCase()}${name.slice(1)}` : name,
)

interface Bill {
  records: readonly { startTime: string; endTime: string; intervals?: readonly BillingInterval[] }[]
  metadata: { totals: object }
}

/** Whether a caller wants lines (BIL-15). */
export function wantsCsv(c: Context<AppEnv>): boolean {
  c.header('Vary', 'Accept')
  return accepts(c, { header: 'Accept', supports: [JSON_TYPE, CSV], default: JSON_TYPE }) === CSV
}

/** A bill as lines: one a record, or one an interval where those are listed (BIL-15). */
export function csvOf(c: Context<AppEnv>, { records, metadata }: Bill, owner: readonly string[], include: string | undefined): Response {
  const text =
    include === 'INTERVALS' ? intervalLines(records) : recordLines(records, [...RANGE, ...owner, ...Object.keys(metadata.totals)])
  return c.body(text, 200, { 'Content-Type': `${CSV}; charset=utf-8; header=present` })
}

// Both casts below: columns are picked by name, and the types of records have no index signature.
function recordLines(records: Bill['records'], columns: readonly string[]): string {
  return formatCsv(columns, records as unknown as Record<string, Cell>[])
}

function intervalLines(records: Bill['records']): string {
  const rows = records.flatMap(({ startTime, endTime, intervals = [] }) =>
    intervals.map((interval) => {
      const { startTime: intervalStartTime, endTime: intervalEndTime, ...rest } = interval
      return { startTime, endTime, intervalStartTime, intervalEndTime, ...rest }
    }),
  )
  return formatCsv([...RANGE, ...INTERVAL_COLUMNS], rows as unknown as Record<string, Cell>[])
}
