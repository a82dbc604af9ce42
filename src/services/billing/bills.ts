import type { BillingQuery } from '../../contract/billing/query.ts'
import { Problem, problemOf } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { readBill, readIntervals } from '../../db/billing/bill-reads.ts'
import type { BillRefusal, BillScope } from '../../db/billing/bill-scope.ts'
import { BillSums, PIECE, partsOf } from '../../db/billing/bill-sums.ts'
import type { Database } from '../../db/client.ts'
import { addSums, type Charge, NOTHING, type Part, type Sums } from '../../domain/billing/bill.ts'
import { type Bucket, resolveBuckets } from '../../domain/billing/buckets.ts'
import { aggregateAmounts, type BillList } from '../../domain/billing/lists.ts'
import { USAGE_KINDS, type UsageKind } from '../../domain/billing/usage.ts'
import { inPieces } from '../../platform/yield-thread.ts'
import type { VerbContext } from '../context.ts'
import { openHeavyReads } from '../heavy-reads.ts'
import { nearEnv } from '../near-reads.ts'
import { requireScope } from '../require-scope.ts'
import { showPart } from './interval-view.ts'

/** Limits of one answer: records, the daily sums or intervals behind them, and the parts that these are cut into (BIL-14). */
const BOUNDS = { records: 50_000, rows: 250_000, parts: 1_000_000 }
const COUNTED = { records: 'records', rows: 'intervals or daily sums behind it', parts: 'parts of intervals behind it' }
/** Maximum number of intervals that one answer lists (BIL-16). */
const MAX_LISTED = 5_000

interface Bill {
  buckets: readonly Bucket[]
  charges: Charge[]
  /** The interval parts behind the charges; null when they are not requested. */
  parts: readonly Part[] | null
}

/** Returns the charges of one kind of resource, by bucket and resource (BIL-1 to BIL-5); records are created lazily. Throws 400 and 403. */
export async function listBills<Amounts, Owner, Filter, Count>(
  ctx: VerbContext,
  list: BillList<Amounts, Owner, Filter, Count>,
  query: BillingQuery,
  resourceId: string | undefined,
) {
  const bill = await readBillOf(ctx, query, { kinds: [list.kind], resourceId: resourceId ?? null, perResource: true })
  const intervalsOf = partsBy(bill, ({ bucketStartMs, resourceId: of }) => `${bucketStartMs} ${of}`)
  const rangeOf = rangesOf(bill)
  const recordOf = (charge: Charge) => ({
    ...rangeOf(charge.bucketStartMs),
    ...list.owner(charge.resourceId),
    ...list.amounts(charge),
    ...intervalsOf(`${charge.bucketStartMs} ${charge.resourceId}`),
  })
  const unique = new Set(bill.charges.map((charge) => charge.resourceId)).size
  const totals = list.amounts(bill.charges.reduce<Sums>(addSums, NOTHING))
  const asked = { ...queryOf(bill, query), ...list.filter(resourceId ?? null) }
  const metadata = { query: asked, recordCount: bill.charges.length, ...list.count(unique), totals }
  return { records: mapLazily(bill.charges, recordOf), metadata }
}

/** Returns the charges of all kinds together, by bucket (BIL-5). Throws 400 and 403. */
export async function listAggregate(ctx: VerbContext, query: BillingQuery) {
  const bill = await readBillOf(ctx, query, { kinds: USAGE_KINDS, resourceId: null, perResource: false })
  const intervalsOf = partsBy(bill, ({ bucketStartMs }) => String(bucketStartMs))
  const rangeOf = rangesOf(bill)
  const records = [...Map.groupBy(bill.charges, ({ bucketStartMs }) => bucketStartMs)].map(([startMs, charges]) => ({
    ...rangeOf(startMs),
    ...aggregateAmounts(byKind(charges)),
    ...intervalsOf(String(startMs)),
  }))
  const totals = aggregateAmounts(byKind(bill.charges))
  return { records, metadata: { query: queryOf(bill, query), recordCount: records.length, totals } }
}

/** Returns the charges for public endpoints: always none, because this plane has no public endpoints (BIL-12). Throws 400 and 403. */
export async function listEndpointBills(ctx: VerbContext, query: BillingQuery) {
  requireScope(ctx.principal, 'billing:read')
  const bill = { buckets: bucketsOrThrow(ctx, query) }
  return { records: [], metadata: { query: queryOf(bill, query), recordCount: 0, totals: { totalAmount: 0 } } }
}

async function readBillOf(ctx: VerbContext, query: BillingQuery, what: Omit<BillScope, 'teamId' | 'buckets'>): Promise<Bill> {
  requireScope(ctx.principal, 'billing:read')
  const buckets = bucketsOrThrow(ctx, query)
  const scope = { ...what, teamId: ctx.principal.teamId, buckets }
  const db = await openHeavyReads(ctx, (await nearEnv(ctx)).DB)
  const isListed = query.include === 'INTERVALS'
  if (isListed) return { buckets, ...(await readParts(db, scope, ctx.nowMs)) }
  const charges = await readBill(db, scope, BOUNDS, ctx.nowMs)
  if (!Array.isArray(charges)) throw refusalOf(charges, false)
  return { buckets, charges, parts: null }
}

function* mapLazily<From, To>(items: Iterable<From>, map: (item: From) => To): Generator<To> {
  for (const item of items) yield map(item)
}

async function readParts(db: Database, scope: BillScope, nowMs: number): Promise<Pick<Bill, 'charges' | 'parts'>> {
  const intervals = await readIntervals(db, scope, MAX_LISTED)
  if (!Array.isArray(intervals)) throw refusalOf(intervals, true)
  const parts: Part[] = []
  for await (const piece of inPieces(partsOf(intervals, scope, nowMs), PIECE)) {
    parts.push(...piece)
    if (parts.length > BOUNDS.records) throw refusalOf({ tooMuch: 'records' }, false)
  }
  const sums = new BillSums(scope, BOUNDS, nowMs)
  await sums.add(parts)
  return { charges: await sums.sorted(), parts }
}

function refusalOf(refusal: BillRefusal, isListed: boolean): Problem {
  if ('removedUntilMs' in refusal) {
    const since = formatTime(refusal.removedUntilMs)
    const detail = `intervals that ended before ${since} are stored only as daily sums; use a later startTime, or leave out include and use bucketSize day or larger`
    return new Problem('badRequest', { detail })
  }
  if (isListed) return tooMuch(`${MAX_LISTED} intervals`)
  return tooMuch(`${BOUNDS[refusal.tooMuch]} ${COUNTED[refusal.tooMuch]}`)
}

function tooMuch(bound: string): Problem {
  return new Problem('badRequest', { detail: `the response would have more than ${bound}; request a shorter time range, or one resource` })
}

function bucketsOrThrow({ nowMs }: VerbContext, query: BillingQuery): Bucket[] {
  const result = resolveBuckets(query, nowMs)
  if (!result.ok) throw problemOf(result.problem)
  return result.buckets
}

function rangesOf({ buckets }: Bill) {
  const ranges = new Map(buckets.map(({ startMs, endMs }) => [startMs, { startTime: formatTime(startMs), endTime: formatTime(endMs) }]))
  return (startMs: number) => ranges.get(startMs) ?? { startTime: '', endTime: '' }
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
