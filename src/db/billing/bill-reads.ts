import type { Charge, ChargedInterval } from '../../domain/billing/bill.ts'
import { areOfDays } from '../../domain/billing/buckets.ts'
import type { Database } from '../client.ts'
import type { BillBounds, BillRefusal, BillScope } from './bill-scope.ts'
import { BillSums } from './bill-sums.ts'
import { addDaySums, readDayTotals } from './day-sums.ts'
import { addHourSums, readClosed } from './interval-walk.ts'
import { readOpen } from './open-intervals.ts'

/**
 * Reads a bill by bucket, kind and resource as of one moment, so that an interval which ends meanwhile is neither missed nor counted twice.
 * Short statements and short pieces of work, so that no other caller waits for a bill (BIL-41).
 */
export async function readBill(db: Database, scope: BillScope, bounds: BillBounds, nowMs: number): Promise<Charge[] | BillRefusal> {
  const { moment, removedUntilMs, open } = await readMoment(db, scope)
  const sums = new BillSums(scope, bounds, nowMs)
  if (!areOfDays(scope.buckets)) {
    if (removedUntilMs > startOf(scope)) return { removedUntilMs }
    const refusal = await addHourSums(db, scope, bounds, moment, sums)
    if (refusal) return refusal
  } else if (scope.perResource) {
    const refusal = await addDaySums(db, scope, bounds, moment, sums)
    if (refusal) return refusal
  } else {
    await sums.add(await readDayTotals(db, scope, moment))
  }
  await sums.addIntervals(open)
  return sums.refusal ?? (await sums.sorted())
}

/** Reads every interval of a bill separately. */
export async function readIntervals(db: Database, scope: BillScope, most: number): Promise<ChargedInterval[] | BillRefusal> {
  const { moment, removedUntilMs, open } = await readMoment(db, scope)
  if (removedUntilMs > startOf(scope)) return { removedUntilMs }
  const intervals = [...open, ...(await readClosed(db, scope, most + 1, moment))]
  return intervals.length > most ? { tooMuch: 'records' } : intervals
}

async function readMoment(db: Database, { teamId, kinds, resourceId, buckets }: BillScope) {
  const { open, ...moment } = await readOpen(db, teamId)
  const endMs = buckets.at(-1)?.endMs ?? 0
  const isAsked = ({ kind, resourceId: id, startedAtMs }: ChargedInterval) =>
    kinds.includes(kind) && (resourceId === null || id === resourceId) && startedAtMs < endMs
  return { ...moment, open: open.filter(isAsked) }
}

function startOf({ buckets }: BillScope): number {
  return buckets[0]?.startMs ?? 0
}
