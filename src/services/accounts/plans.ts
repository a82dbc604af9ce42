import type { AccountPlan, LimitsPlan, PlanLimits } from '../../contract/accounts/plans.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import * as table from '../../db/accounts/plans.ts'
import { openDatabase } from '../../db/client.ts'
import { isLiveOrganization } from '../../db/organizations/organizations.ts'
import { dropInFlightBounds } from '../../effects/in-flight.ts'
import type { Env } from '../../env.ts'
import { DELETED, noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { decideAgain } from '../decide-again.ts'
import { findUserOrThrow } from '../or-not-found.ts'
import { dropQuotas } from './rate-limit.ts'

// Plans: limits that several accounts share (PLAN-1). The route has checked that the caller is an operator.

/** The account that a plan is assigned to. */
export interface PlanOwner {
  kind: 'user' | 'organization'
  id: string
}

/** Returns all plans by name. */
export async function listPlans(env: Env): Promise<LimitsPlan[]> {
  return (await table.listPlans(openDatabase(env.DB))).map(toPlan)
}

/** Creates a plan or changes its limits; in force within 60 s. */
export async function setPlan(ctx: OperatorContext, name: string, limits: PlanLimits): Promise<LimitsPlan> {
  const db = openDatabase(ctx.env.DB)
  const [before] = await table.listPlans(db, name)
  const change = {
    action: 'plans.set',
    resourceKind: 'plan',
    resourceId: name,
    before: before ? { limits: before.limits } : null,
    after: { limits },
  }
  await table.upsertPlan(db, name, limits, ctx.nowMs, noteByOperator(ctx, null, change))
  dropLimits()
  return toPlan({ name, limits, updatedAt: ctx.nowMs, accounts: before?.accounts ?? 0 })
}

/** Deletes a plan that no account has. Throws 404 and 409. */
export async function deletePlan(ctx: OperatorContext, name: string): Promise<void> {
  const db = openDatabase(ctx.env.DB)
  const note = noteByOperator(ctx, null, { action: 'plans.delete', resourceKind: 'plan', resourceId: name, ...DELETED })
  await decideAgain('plan', async () => {
    refuseDeletion(await findPlanOrThrow(ctx.env, name))
    return (await table.deletePlan(db, name, note)) || null
  })
  dropLimits()
}

/** Throws 409 for a plan that accounts have. */
export function refuseDeletion({ name, accounts }: table.PlanRow): void {
  if (accounts === 0) return
  const detail = `${accounts} ${accounts === 1 ? 'account has' : 'accounts have'} the plan ${name}: assign another plan to them first`
  throw new Problem('conflict', { detail, code: 'IN_USE' })
}

/** Returns the plan of that name. Throws 404. */
export async function findPlanOrThrow(env: Env, name: string): Promise<table.PlanRow> {
  const [plan] = await table.listPlans(openDatabase(env.DB), name)
  if (!plan) throw new Problem('notFound')
  return plan
}

/** Returns the plan that is assigned to an account. Throws 404. */
export async function getAccountPlan(env: Env, owner: PlanOwner): Promise<AccountPlan> {
  const { teamId } = await accountOfOwner(env, owner)
  return { plan: (await table.findTeamPlan(openDatabase(env.DB), teamId)) ?? null }
}

/** Assigns a plan to an account, or none; in force within 60 s. Throws 400 for an unknown plan, and 404. */
export async function setAccountPlan(ctx: OperatorContext, owner: PlanOwner, { plan }: AccountPlan): Promise<AccountPlan> {
  const db = openDatabase(ctx.env.DB)
  const { teamId } = await accountOfOwner(ctx.env, owner)
  const before = { plan: (await table.findTeamPlan(db, teamId)) ?? null }
  await requireKnown(ctx.env, plan)
  const change = { action: `${owner.kind}s.set-plan`, resourceKind: owner.kind, resourceId: owner.id, before, after: { plan } }
  if (!(await table.setTeamPlan(db, teamId, plan, noteByOperator(ctx, teamId, change)))) {
    await requireKnown(ctx.env, plan)
    throw new Problem('notFound')
  }
  dropLimits()
  return { plan }
}

/** Throws 400 for a plan that does not exist. */
export async function requireKnown(env: Env, plan: string | null): Promise<void> {
  if (plan === null || (await table.listPlans(openDatabase(env.DB), plan)).length > 0) return
  throw new Problem('badRequest', { detail: `plan: plan ${plan} does not exist; create it first`, code: 'RULE' })
}

/** Returns the account and name of a user or an organization. Throws 404. */
export async function accountOfOwner(env: Env, { kind, id }: PlanOwner): Promise<{ teamId: string; name: string | null }> {
  if (kind === 'user') {
    const { personalTeamId, email } = await findUserOrThrow(env, id)
    return { teamId: personalTeamId, name: email }
  }
  if (!(await isLiveOrganization(openDatabase(env.DB), id))) throw new Problem('notFound')
  return { teamId: id, name: null }
}

function dropLimits(): void {
  dropQuotas()
  dropInFlightBounds()
}

function toPlan({ updatedAt, ...plan }: table.PlanRow): LimitsPlan {
  return { ...plan, updatedAt: formatTime(updatedAt) }
}
