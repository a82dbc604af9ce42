import {
  type AccountLimits,
  BUDGET_NAMES,
  BUDGETS,
  type BudgetName,
  type BudgetOverrides,
  describeExcess,
  SHARED_BUDGETS,
} from '../contract/accounts/budgets.ts'
import { Problem } from '../contract/problems.ts'
import { findOverrides, readBudgets, type StoredBudget, upsertOverrides } from '../db/accounts/budgets.ts'
import { findPlansOf } from '../db/accounts/plans.ts'
import { openDatabase } from '../db/client.ts'
import { dropInFlightBound, inFlightUse, readUse, rowsUse } from '../effects/in-flight.ts'
import type { Env } from '../env.ts'
import { noteByOperator } from './audit.ts'
import type { OperatorContext, VerbContext } from './context.ts'
import { findUserOrThrow } from './or-not-found.ts'
import { requireScope } from './require-scope.ts'

const STORED = BUDGET_NAMES.filter((name): name is StoredBudget => name !== 'inFlightBytes' && name !== 'readBytes' && name !== 'readRows')

/** Returns the account's use and bound of each budget (BUDGET-1). Throws 403. */
export async function getLimits({ env, principal, nowMs }: VerbContext): Promise<AccountLimits> {
  requireScope(principal, 'account:read')
  return await limitsOf(env, principal.teamId, nowMs)
}

/** Returns the use and bound of each budget of any account. */
export async function limitsOf(env: Env, teamId: string, nowMs: number): Promise<AccountLimits> {
  const [uses, { plan }] = await Promise.all([readUses(env, teamId, nowMs), findPlansOf(openDatabase(env.DB), teamId)])
  const limits = BUDGET_NAMES.map((name) => [name, { ...uses[name], unit: BUDGETS[name].unit, shared: SHARED_BUDGETS.has(name) }])
  return { plan: plan?.name ?? null, ...(Object.fromEntries(limits) as Omit<AccountLimits, 'plan'>) }
}

/** Returns an account's use of every budget, and the bounds. */
export async function readUses(env: Env, teamId: string, nowMs: number): Promise<Record<BudgetName, { used: number; bound: number }>> {
  const stored = await readBudgets(openDatabase(env.DB), teamId, STORED)
  return {
    ...stored,
    inFlightBytes: await inFlightUse(env, teamId, nowMs),
    readBytes: await readUse(env, teamId, nowMs),
    readRows: await rowsUse(env, teamId, nowMs),
  }
}

/**
 * Throws 400 when the wanted amounts exceed a team's budget (BUDGET-1). The statement that reserves them enforces the same bound; this
 * check comes before the work and names the reason.
 */
export async function requireBudget(env: Env, teamId: string, wanted: Partial<Record<StoredBudget, number>>): Promise<void> {
  const names = (Object.keys(wanted) as StoredBudget[]).filter((name) => wanted[name] !== undefined)
  const uses = await readBudgets(openDatabase(env.DB), teamId, names)
  for (const name of names) {
    const { used, bound } = uses[name]
    const more = wanted[name] ?? 0
    if (used + more > bound) throw new Problem('badRequest', { detail: describeExcess(name, used, more, bound), code: 'RULE' })
  }
}

/** Returns the operator's budget overrides of a user's account. Throws 404. */
export async function getBudgets(env: Env, userId: string): Promise<BudgetOverrides> {
  return findOverrides(openDatabase(env.DB), (await findUserOrThrow(env, userId)).personalTeamId)
}

/** Replaces the budget overrides of a user's account; an omitted budget returns to its default (BUDGET-2). Throws 404. */
export async function setBudgets(ctx: OperatorContext, userId: string, overrides: BudgetOverrides): Promise<BudgetOverrides> {
  const { env, nowMs } = ctx
  const { personalTeamId: teamId } = await findUserOrThrow(env, userId)
  const change = { action: 'budgets.set', resourceKind: 'user', resourceId: userId, before: {}, after: { budgets: { ...overrides } } }
  await upsertOverrides(openDatabase(env.DB), teamId, overrides, nowMs, noteByOperator(ctx, teamId, change))
  dropInFlightBound(teamId)
  return overrides
}
