import type { BillingQuery } from '../../contract/billing/query.ts'
import { Problem, problemOf } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { type BillScope, readBill, readIntervals } from '../../db/billing/bill-reads.ts'
import { openDatabase } from '../../db/client.ts'
import { addSums, type Charge, cutInterval, NOTHING, type Part, type Sums, sumCharges } from '../../domain/billing/bill.ts'
import { type Bucket, resolveBuckets } from '../../domain/billing/buckets.ts'
import { aggregateAmounts, type BillList } from '../../domain/billing/lists.ts'
import { USAGE_KINDS, type UsageKind } from '../../domain/billing/usage.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'
import { showPart } from './interval-view.ts'

/** Records of one answer, and intervals across borders that it is made of (BIL-14). */
const BOUNDS = { sums: 50_000, intervals: 50_000 }
/** Intervals that one answer lists (BIL-16). */
const MAX_LISTED = 5_000

interface Bill {
  buckets: readonly Bucket[]
  charges: Charge[]
  /** What the charges are made of; null where that is not asked for. */
  parts: readonly Part[] | null
}

/** What one kind of resource was charged, by bucket and resource (BIL-1 to BIL-5). Throws 400 and 403. */
export async function listBills<Amounts, Owner, Filter, Count>(
  ctx: VerbContext,
  list: BillList<Amounts, Owner, Filter, Count>,
  query: BillingQuery,
  resourceId: string | undefined,
) {
  const bill = await readBillOf(ctx, query, { kinds: [list.kind], resourceId: resourceId ?? null, perResource: true })
  const partsOf = partsBy(bill, ({ bucketStartMs, resourceId: of }) => `${bucketStartMs} ${of}`)
  const rangeOf = rangesOf(bill)
  const records = bill.charges.map((charge) => ({
    ...rangeOf(charge.bucketStartMs),
    ...list.owner(charge.resourceId),
    ...list.amounts(charge),
    ...partsOf(`${charge.bucketStartMs} ${charge.resourceId}`),
  }))
  const unique = new Set(bill.charges.map((charge) => charge.resourceId)).size
  const totals = list.amounts(bill.charges.reduce<Sums>(addSums, NOTHING))
  const asked = { ...queryOf(bill, query), ...list.filter(resourceId ?? null) }
  return { records, metadata: { query: asked, recordCount: records.length, ...list.count(unique), totals } }
}

/** What everything together was charged, by bucket (BIL-5). Throws 400 and 403. */
export async function listAggregate(ctx: VerbContext, query: BillingQuery) {
  const bill = await readBillOf(ctx, query, { kinds: USAGE_KINDS, resourceId: null, perResource: false })
  const partsOf = partsBy(bill, ({ bucketStartMs }) => String(bucketStartMs))
  const rangeOf = rangesOf(bill)
  const records = [...Map.groupBy(bill.charges, ({ bucketStartMs }) => bucketStartMs)].map(([startMs, charges]) => ({
    ...rangeOf(startMs),
    ...aggregateAmounts(byKind(charges)),
    ...partsOf(String(startMs)),
  }))
  const totals = aggregateAmounts(byKind(bill.charges))
  return { records, metadata: { query: queryOf(bill, query), recordCount: records.length, totals } }
}

/** Calls of public endpoints: there are none on this plane, so nothing was ever charged for one (BIL-12). Throws 400 and 403. */
export async function listEndpointBills(ctx: VerbContext, query: BillingQuery) {
  requireScope(ctx.principal, 'billing:read')
  const bill = { buckets: bucketsOrThrow(ctx, query) }
  return { records: [], metadata: { query: queryOf(bill, query), recordCount: 0, totals: { totalAmount: 0 } } }
}

async function readBillOf(ctx: VerbContext, query: BillingQuery, what: Omit<BillScope, 'teamId' | 'buckets'>): Promise<Bill> {
  requireScope(ctx.principal, 'billing:read')
  const buckets = bucketsOrThrow(ctx, query)
  const scope = { ...what, teamId: ctx.principal.teamId, buckets }
  const db = openDatabase(ctx.env.DB)
  // Read before the clock, no interval has ended later than it says.
  const isListed = query.include === 'INTERVALS'
  const found = isListed ? { sums: [], ...(await readIntervals(db, scope, MAX_LISTED)) } : await readBill(db, scope, BOUNDS)
  if (found.isTooMuch) throw tooMuch(isListed)
  const parts = found.intervals.flatMap((interval) => cutInterval(interval, buckets, ctx.nowMs))
  const own = what.perResource ? parts : parts.map((part) => ({ ...part, resourceId: '' }))
  const charges = sumCharges([...found.sums, ...own])
  if (charges.length > BOUNDS.sums) throw tooMuch(false)
  return { buckets, charges, parts: isListed ? parts : null }
}

function tooMuch(isListed: boolean): Problem {
  const bound = isListed ? `${MAX_LISTED} intervals` : `${BOUNDS.sums} records`
  return new Problem('badRequest', { detail: `the answer would have more than ${bound}; ask for less time, or for one resource` })
}

function bucketsOrThrow({ nowMs }: VerbContext, query: BillingQuery): Bucket[] {
  const result = resolveBuckets(query, nowMs)
  if (!result.ok) throw problemOf(result.problem)
  return result.buckets
}

function rangesOf({ buckets }: Bill) {
  const ends = new Map(buckets.map(({ startMs, endMs }) => [startMs, formatTime(endMs)]))
  return (startMs: number) => ({ startTime: formatTime(startMs), endTime: ends.get(startMs) ?? '' })
}

function queryOf({ buckets }: Pick<Bill, 'buckets'>, { bucketSize }: BillingQuery) {
  return { startTime: formatTime(buckets[0]?.startMs ?? 0), endTime: formatTime(buckets.at(-1)?.endMs ?? 0), bucketSize }
}

function byKind(charges: readonly Charge[]): Record<UsageKind, Sums> {
  const sums = { POD: NOTHING, SERVERLESS: NOTHING, NETWORK_VOLUME: NOTHING, CLUSTER: NOTHING }
  for (const charge of charges) sums[charge.kind] = addSums(sums[charge.kind], charge)
  return sums
}

function partsBy({ parts }: Bill, keyOf: (part: Part) => string) {
  if (parts === null) return () => ({})
  const grouped = Map.groupBy(parts, keyOf)
  return (key: string) => ({ intervals: (grouped.get(key) ?? []).map(showPart) })
}
