import type { ListedSpend } from '../../contract/billing/listed-spend.ts'
import { type ListedKind, readSpendersOf } from '../../db/billing/spending.ts'
import { openDatabase } from '../../db/client.ts'
import { listSpending, type Silences } from '../../domain/billing/spending.ts'
import { usdOfMicros, usdOfNanos } from '../../domain/money.ts'
import { inPieces } from '../../platform/yield-thread.ts'
import type { VerbContext } from '../context.ts'

/** Items whose spending one batch reads, which takes a few milliseconds. */
const AT_ONCE = 250
const NOTHING: ListedSpend = { perHour: 0, costSoFar: 0 }

/**
 * Adds the cost of each item to a list (SPD-9), in two statements per batch. The caller has checked the right to list them.
 * `silentSinceMs`: pods whose hosts are silent.
 */
export async function withSpend<Item extends { id: string }>(
  ctx: VerbContext,
  kind: ListedKind,
  items: readonly Item[],
  silentSinceMs: Silences = new Map(),
): Promise<(Item & { spend: ListedSpend })[]> {
  const shown: (Item & { spend: ListedSpend })[] = []
  for await (const piece of inPieces(items, AT_ONCE)) shown.push(...(await addSpend(ctx, kind, piece, silentSinceMs)))
  return shown
}

async function addSpend<Item extends { id: string }>(
  { env, principal, nowMs }: VerbContext,
  kind: ListedKind,
  items: readonly Item[],
  silentSinceMs: Silences,
): Promise<(Item & { spend: ListedSpend })[]> {
  const { spenders, intervals } = await readSpendersOf(
    openDatabase(env.DB),
    principal.teamId,
    kind,
    items.map(({ id }) => id),
  )
  // In a list of pods, a pod of a cluster counts by itself.
  const alone = kind === 'POD' ? spenders.map((spender) => ({ ...spender, kind, id: spender.workloadId })) : spenders
  const byId = new Map(listSpending(alone, intervals, silentSinceMs, nowMs).map((one) => [one.id, one]))
  return items.map((item) => {
    const spending = byId.get(item.id)
    const spend = spending && { perHour: usdOfNanos(spending.nanosPerHour), costSoFar: usdOfMicros(spending.soFarMicros) }
    return { ...item, spend: spend ?? NOTHING }
  })
}
