import type { ListedSpend } from '../../contract/billing/listed-spend.ts'
import { type ListedKind, readSpendersOf } from '../../db/billing/spending.ts'
import { openDatabase } from '../../db/client.ts'
import { usdOfMicros, usdOfNanos } from '../../domain/billing/money.ts'
import { listSpending, type Silences } from '../../domain/billing/spending.ts'
import type { VerbContext } from '../context.ts'

const NOTHING: ListedSpend = { perHour: 0, costSoFar: 0 }

/**
 * The items of a list with what each costs (SPD-9): two statements for all of them. Who may list them has been asked. `silentSinceMs`: pods whose
 * hosts are silent.
 */
export async function withSpend<Item extends { id: string }>(
  { env, principal, nowMs }: VerbContext,
  kind: ListedKind,
  items: readonly Item[],
  silentSinceMs: Silences = new Map(),
): Promise<(Item & { spend: ListedSpend })[]> {
  if (items.length === 0) return []
  const { spenders, intervals } = await readSpendersOf(
    openDatabase(env.DB),
    principal.teamId,
    kind,
    items.map(({ id }) => id),
  )
  // A pod of a cluster stands for itself in a list of pods.
  const alone = kind === 'POD' ? spenders.map((spender) => ({ ...spender, kind, id: spender.workloadId })) : spenders
  const byId = new Map(listSpending(alone, intervals, new Map(), silentSinceMs, nowMs).map((one) => [one.id, one]))
  return items.map((item) => {
    const spending = byId.get(item.id)
    const spend = spending && { perHour: usdOfNanos(spending.nanosPerHour), costSoFar: usdOfMicros(spending.soFarMicros) }
    return { ...item, spend: spend ?? NOTHING }
  })
}
