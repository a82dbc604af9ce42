import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { BillingInterval } from '../../../contract/billing/bills.ts'
import type { BillingQuery } from '../../../contract/billing/query.ts'
import { type Cell, formatCsv, formatCsvLines } from '../../../domain/text/csv.ts'
import { inPieces } from '../../../platform/yield-thread.ts'
import { answerInPieces, bodyInPieces } from '../../answer-in-pieces.ts'
import type { AppEnv } from '../../app-env.ts'

/** CSV lines that are written in one step. */
const LINES = 1_000
const CSV = 'text/csv'
const JSON_TYPE = 'application/json'
const RANGE = ['startTime', 'endTime']
/** Column names of intervals. An interval has its own times, in addition to those of its record. */
const INTERVAL_COLUMNS = Object.keys(BillingInterval.shape).map((name) =>
  RANGE.includes(name) ? `interval${name[0]?.toUpperCase()}${name.slice(1)}` : name,
)

interface BillRecord {
  startTime: string
  endTime: string
  intervals?: readonly BillingInterval[]
}
interface Bill {
  records: Iterable<BillRecord>
  metadata: { totals: object }
}

/** Answers with a bill as JSON, or as CSV if the caller prefers it (BIL-15); `owner` names the columns that identify the resource. */
export async function answerBill(
  c: Context<AppEnv>,
  bill: Bill,
  owner: readonly string[],
  include: BillingQuery['include'],
): Promise<Response> {
  if (!wantsCsv(c)) return answerInPieces(c, bill)
  const body = await bodyInPieces(csvPieces(bill, owner, include))
  return c.body(body, 200, { 'Content-Type': `${CSV}; charset=utf-8; header=present` })
}

async function* csvPieces({ records, metadata }: Bill, owner: readonly string[], include: BillingQuery['include']): AsyncGenerator<string> {
  const columns = include === 'INTERVALS' ? [...RANGE, ...INTERVAL_COLUMNS] : [...RANGE, ...owner, ...Object.keys(metadata.totals)]
  yield formatCsv(columns, [])
  for await (const piece of inPieces<object>(include === 'INTERVALS' ? intervalRows(records) : records, LINES)) {
    // Columns are picked by name, and the types of records have no index signature.
    yield formatCsvLines(columns, piece as Record<string, Cell>[])
  }
}

function* intervalRows(records: Bill['records']) {
  for (const { startTime, endTime, intervals = [] } of records) {
    for (const { startTime: intervalStartTime, endTime: intervalEndTime, ...rest } of intervals) {
      yield { startTime, endTime, intervalStartTime, intervalEndTime, ...rest }
    }
  }
}

function wantsCsv(c: Context<AppEnv>): boolean {
  c.header('Vary', 'Accept')
  return accepts(c, { header: 'Accept', supports: [JSON_TYPE, CSV], default: JSON_TYPE }) === CSV
}
