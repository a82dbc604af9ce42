import type { Spend, SpendItem, SpendQuery } from '../../contract/billing/spending.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { readDaySumsOf } from '../../db/billing/day-sums.ts'
import { readSpending } from '../../db/billing/spending.ts'
import { type Charge, cutInterval, totalMicros } from '../../domain/billing/bill.ts'
import type { Bucket } from '../../domain/billing/buckets.ts'
import { monthOf } from '../../domain/billing/spend.ts'
import { chargedUntilMs, type Idling, idlingOf, listSpending, type Spending, type Spent } from '../../domain/billing/spending.ts'
import { usdOfMicros, usdOfNanos } from '../../domain/money.ts'
import { yieldThread } from '../../platform/yield-thread.ts'
import type { VerbContext } from '../context.ts'
import { openHeavyReads } from '../heavy-reads.ts'
import { requireScope } from '../require-scope.ts'
import { readIdleWorkers, readPodActivity } from './idle.ts'

const DAY_MS = 86_400_000

/** Returns the account's present spending by resource (SPD-1, SPD-2, SPD-4, SPD-7). Throws 403. */
export async function getSpend(ctx: VerbContext, { limit }: SpendQuery): Promise<Spend> {
  requireScope(ctx.principal, 'billing:read')
  const { nowMs } = ctx
  const month = monthOf(nowMs)
  const dayStartMs = nowMs - (nowMs % DAY_MS)
  const today: Bucket = { startMs: dayStartMs, endMs: month.endMs }
  const buckets = dayStartMs === month.startMs ? [today] : [{ startMs: month.startMs, endMs: dayStartMs }, today]
  const db = await openHeavyReads(ctx)
  const { teamId } = ctx.principal
  const { spenders, totals, intervals, moment } = await readSpending(db, teamId, buckets)
  const { idleSinceMs, silentSinceMs } = await readPodActivity(
    ctx,
    spenders.filter(({ isRunning }) => isRunning),
  )
  const parts = intervals.flatMap((interval) => cutInterval(interval, buckets, chargedUntilMs(interval.workloadId, silentSinceMs, nowMs)))
  const spent = spentOf([...totals, ...parts], dayStartMs)
  await yieldThread()
  const items = listSpending(spenders, intervals, silentSinceMs, nowMs)
  await yieldThread()
  const listed = items.slice(0, limit)
  const ids = listed.map(({ id }) => id)
  const spentBy = spentById([...(await readDaySumsOf(db, { teamId, buckets }, ids, moment)), ...parts], dayStartMs)
  const idleWorkers = await readIdleWorkers(
    ctx,
    listed.filter(({ runningCount }) => runningCount > 0),
  )
  const sinceMs = new Map([...idleSinceMs, ...idleWorkers])
  return {
    perHour: usdOfNanos(items.reduce((sum, { nanosPerHour }) => sum + nanosPerHour, 0)),
    stoppedPerHour: usdOfNanos(items.reduce((sum, { stoppedNanosPerHour }) => sum + stoppedNanosPerHour, 0)),
    today: { from: formatTime(dayStartMs), spent: usdOfMicros(spent.todayMicros) },
    month: { from: formatTime(month.startMs), spent: usdOfMicros(spent.monthMicros) },
    itemCount: items.length,
    items: listed.map((item) => showSpending(item, spentBy(item.id), idlingOf(item, sinceMs, nowMs))),
  }
}

function spentById(charges: readonly Charge[], dayStartMs: number): (id: string) => Spent {
  const byResource = Map.groupBy(charges, ({ resourceId }) => resourceId)
  return (id) => spentOf(byResource.get(id) ?? [], dayStartMs)
}

function spentOf(charges: readonly Charge[], dayStartMs: number): Spent {
  let [todayMicros, monthMicros] = [0, 0]
  for (const charge of charges) {
    monthMicros += totalMicros(charge)
    if (charge.bucketStartMs === dayStartMs) todayMicros += totalMicros(charge)
  }
  return { todayMicros, monthMicros }
}

function showSpending(spending: Spending, { todayMicros, monthMicros }: Spent, idling: Idling): SpendItem {
  const { kind, id, name, runningCount, runningSinceMs } = spending
  return {
    kind,
    id,
    name,
    perHour: usdOfNanos(spending.nanosPerHour),
    stoppedPerHour: usdOfNanos(spending.stoppedNanosPerHour),
    runningCount,
    runningSince: runningSinceMs === null ? null : formatTime(runningSinceMs),
    costSoFar: usdOfMicros(spending.soFarMicros),
    costToday: usdOfMicros(todayMicros),
    costThisMonth: usdOfMicros(monthMicros),
    idleCount: idling.count,
    idlePerHour: usdOfNanos(idling.nanosPerHour),
    idleSince: idling.sinceMs === null ? null : formatTime(idling.sinceMs),
    idleWaste: idling.sinceMs === null ? null : usdOfMicros(idling.wasteMicros),
  }
}
