import type { Spend, SpendItem, SpendQuery } from '../../contract/billing/spending.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { readSpending, type SpendingRows } from '../../db/billing/spending.ts'
import { openDatabase } from '../../db/client.ts'
import { type Charge, cutInterval, totalMicros } from '../../domain/billing/bill.ts'
import type { Bucket } from '../../domain/billing/buckets.ts'
import { usdOfMicros, usdOfNanos } from '../../domain/billing/money.ts'
import { monthOf } from '../../domain/billing/spend.ts'
import { idleWasteMicros, listSpending, type Spending, type Spent } from '../../domain/billing/spending.ts'
import { ownPods } from '../../objects/ownership/own.ts'
import type { VerbContext } from '../context.ts'
import { readLivePods } from '../pods/live-pods.ts'
import { requireScope } from '../require-scope.ts'

const DAY_MS = 86_400_000
/** Pods that are asked whether they do nothing; one page of them. */
const MAX_ASKED = 1_000

/** What the account spends now, and on what (SPD-1, SPD-2, SPD-4). Throws 403. */
export async function getSpend(ctx: VerbContext, { limit }: SpendQuery): Promise<Spend> {
  requireScope(ctx.principal, 'billing:read')
  const { nowMs } = ctx
  const month = monthOf(nowMs)
  const dayStartMs = nowMs - (nowMs % DAY_MS)
  const today: Bucket = { startMs: dayStartMs, endMs: month.endMs }
  const buckets = dayStartMs === month.startMs ? [today] : [{ startMs: month.startMs, endMs: dayStartMs }, today]
  const rows = await readSpending(openDatabase(ctx.env.DB), ctx.principal.teamId, buckets)
  const parts = rows.intervals.flatMap((interval) => cutInterval(interval, buckets, nowMs))
  const spent = spentOf([...rows.totals, ...parts], dayStartMs)
  const items = itemsOf(rows, parts, dayStartMs, nowMs)
  const listed = items.slice(0, limit)
  const idle = await readIdle(ctx, listed)
  return {
    perHour: usdOfNanos(items.reduce((sum, { nanosPerHour }) => sum + nanosPerHour, 0)),
    stoppedPerHour: usdOfNanos(items.reduce((sum, { stoppedNanosPerHour }) => sum + stoppedNanosPerHour, 0)),
    today: { from: formatTime(dayStartMs), spent: usdOfMicros(spent.todayMicros) },
    month: { from: formatTime(month.startMs), spent: usdOfMicros(spent.monthMicros) },
    itemCount: items.length,
    items: listed.map((item) => showSpending(item, idle.get(item.id) ?? null, nowMs)),
  }
}

function itemsOf({ spenders, charges, intervals }: SpendingRows, parts: readonly Charge[], dayStartMs: number, nowMs: number): Spending[] {
  const byResource = Map.groupBy([...charges, ...parts], ({ resourceId }) => resourceId)
  const spent = new Map([...byResource].map(([id, of]) => [id, spentOf(of, dayStartMs)]))
  return listSpending(spenders, intervals, spent, nowMs)
}

function spentOf(charges: readonly Charge[], dayStartMs: number): Spent {
  let [todayMicros, monthMicros] = [0, 0]
  for (const charge of charges) {
    monthMicros += totalMicros(charge)
    if (charge.bucketStartMs === dayStartMs) todayMicros += totalMicros(charge)
  }
  return { todayMicros, monthMicros }
}

/** Since when running pods do nothing, by id, as their hosts have seen it (HIS-8). */
async function readIdle(ctx: VerbContext, items: readonly Spending[]): Promise<Map<string, number>> {
  const wanted = new Set(items.filter(({ kind, runningCount }) => kind === 'POD' && runningCount > 0).map(({ id }) => id))
  if (wanted.size === 0) return new Map()
  const { pods } = await ownPods(ctx.env, ctx.principal, null, MAX_ASKED)
  const live = await readLivePods(
    ctx.env,
    pods.filter(({ id }) => wanted.has(id)),
  )
  return new Map([...live].flatMap(([id, { idleSinceMs }]) => (idleSinceMs === null ? [] : [[id, idleSinceMs]])))
}

function showSpending(spending: Spending, idleSinceMs: number | null, nowMs: number): SpendItem {
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
    costToday: usdOfMicros(spending.todayMicros),
    costThisMonth: usdOfMicros(spending.monthMicros),
    idleSince: idleSinceMs === null ? null : formatTime(idleSinceMs),
    idleWaste: idleSinceMs === null ? null : usdOfMicros(idleWasteMicros(spending, idleSinceMs, nowMs)),
  }
}
