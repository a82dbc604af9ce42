import { Problem } from '../contract/problems.ts'
import type { StoredBudget } from '../db/accounts/budgets.ts'
import { requireSpend } from './billing/spend.ts'
import { requireBudget } from './budgets.ts'
import type { VerbContext } from './context.ts'

/** A limit of an account by which a statement refused a resource. */
export type Limit = StoredBudget | 'spend' | 'inactive'

/**
 * Throws the error of a create that a batch refused because of `limit`: 403 for a suspended account, 402 for its spend limit, 400 for a
 * budget, each with its present figures; 409 when they allow it again by now. `wanted`: what the request takes of each limit.
 */
export async function refuseLimit(
  ctx: VerbContext,
  limit: Limit,
  { nanosPerHour = 0, ...budgets }: Partial<Record<StoredBudget, number>> & { nanosPerHour?: number },
): Promise<never> {
  if (limit === 'inactive') throw new Problem('accountSuspended')
  if (limit === 'spend') await requireSpend(ctx, nanosPerHour)
  else await requireBudget(ctx.env, ctx.principal.teamId, { [limit]: budgets[limit] ?? 0 })
  const name = limit === 'spend' ? 'spend limit' : `budget ${limit}`
  throw new Problem('conflict', { detail: `concurrent requests used the rest of the account's ${name} for a moment; retry` })
}
