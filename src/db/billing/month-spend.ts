import { and, eq, gt, gte, inArray, lt, sql } from 'drizzle-orm'
import { partAmounts, type Rates } from '../../domain/billing/money.ts'
import type { Month } from '../../domain/billing/spend.ts'
import { USAGE_KINDS } from '../../domain/billing/usage.ts'
import type { Database } from '../client.ts'
import { usage } from '../schema.ts'
import { selectOpen, toOpenIntervals } from './open-intervals.ts'

/** What a team has been charged in a month until now, in millionths of a USD: what has ended, and what still lasts. */
export async function readMonthSpend(db: Database, teamId: string, month: Month, nowMs: number): Promise<number> {
  const endedSince = and(eq(usage.teamId, teamId), inArray(usage.kind, [...USAGE_KINDS]), gt(usage.endedAtMs, month.startMs))
  const [sums, crossing, ...open] = await db.batch([
    db
      .select({ micros: sql<number>`COALESCE(SUM(${usage.gpuMicros} + ${usage.cpuMicros} + ${usage.diskMicros}), 0)` })
      .from(usage)
      .where(and(endedSince, gte(usage.startedAtMs, month.startMs))),
    db
      .select()
      .from(usage)
      .where(and(endedSince, lt(usage.startedAtMs, month.startMs))),
    ...selectOpen(db, teamId),
  ])
  const pieces = [...crossing, ...toOpenIntervals(open)].map((piece) => microsIn(piece, month, nowMs))
  return pieces.reduce((total, micros) => total + micros, sums[0]?.micros ?? 0)
}

/** What of an interval that touches a month is charged in it (BIL-6). */
function microsIn(interval: Rates & { startedAtMs: number; endedAtMs: number | null }, { startMs }: Month, nowMs: number): number {
  const { startedAtMs, endedAtMs } = interval
  const toMs = Math.max(startedAtMs, endedAtMs ?? nowMs)
  const { gpuMicros, cpuMicros, diskMicros } = partAmounts(interval, startedAtMs, { fromMs: Math.max(startedAtMs, startMs), toMs })
  return gpuMicros + cpuMicros + diskMicros
}
