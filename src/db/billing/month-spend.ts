import { and, eq, gte, inArray, sql } from 'drizzle-orm'
import { type ChargedInterval, totalMicros } from '../../domain/billing/bill.ts'
import type { Month } from '../../domain/billing/spend.ts'
import { USAGE_KINDS } from '../../domain/billing/usage.ts'
import { partAmounts } from '../../domain/money.ts'
import type { Database } from '../client.ts'
import { usageTotals } from '../schema.ts'
import { readDayTotals } from './day-sums.ts'
import { allOpen, readOpen, selectFewOpen } from './open-intervals.ts'

/** Charges of a team in a month so far, in millionths of a USD: closed and open intervals. */
export async function readMonthSpend(db: Database, teamId: string, month: Month, nowMs: number): Promise<number> {
  const { gpuMicros, cpuMicros, diskMicros, fastMicros, kind, dayMs } = usageTotals
  const [sums, ...rows] = await db.batch([
    db
      .select({ micros: sql<number>`COALESCE(SUM(${gpuMicros} + ${cpuMicros} + ${diskMicros} + ${fastMicros}), 0)` })
      .from(usageTotals)
      .where(and(eq(usageTotals.teamId, teamId), inArray(kind, [...USAGE_KINDS]), gte(dayMs, month.startMs))),
    ...selectFewOpen(db, teamId),
  ])
  const few = allOpen(rows)
  if (few) return few.reduce((sum, interval) => sum + microsIn(interval, month, nowMs), sums[0]?.micros ?? 0)
  const { open, moment } = await readOpen(db, teamId)
  const ended = await readDayTotals(db, { teamId, kinds: USAGE_KINDS, buckets: [month] }, moment)
  const micros = ended.reduce((sum, charge) => sum + totalMicros(charge), 0)
  return open.reduce((sum, interval) => sum + microsIn(interval, month, nowMs), micros)
}

/** The part of an open interval that is charged in a month (BIL-6), in millionths of a USD. */
function microsIn(interval: ChargedInterval, { startMs }: Month, nowMs: number): number {
  const { startedAtMs } = interval
  const part = { fromMs: Math.max(startedAtMs, startMs), toMs: Math.max(startedAtMs, nowMs) }
  const { gpuMicros, cpuMicros, diskMicros } = partAmounts(interval, startedAtMs, part)
  return gpuMicros + cpuMicros + diskMicros
}
