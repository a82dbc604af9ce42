import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { DEFAULT_PLAN, type PlanLimits } from '../../contract/accounts/plans.ts'
import type { Database, Statement } from '../client.ts'
import { plans, teams } from '../schema.ts'
import { payerOf } from './budgets.ts'

/** A plan, and the number of accounts that have it. */
export interface PlanRow {
  name: string
  limits: PlanLimits
  updatedAt: number
  accounts: number
}

/** All plans by name, or the one with this name. */
export function listPlans(db: Database, name?: string): Promise<PlanRow[]> {
  const accounts = sql<number>`(SELECT COUNT(*) FROM teams WHERE teams.plan = plans.name)`
  return db
    .select({ name: plans.name, limits: plans.limits, updatedAt: plans.updatedAt, accounts })
    .from(plans)
    .where(name === undefined ? undefined : eq(plans.name, name))
    .orderBy(asc(plans.name))
    .all()
}

/** Creates a plan or replaces its limits. */
export async function upsertPlan(db: Database, name: string, limits: PlanLimits, nowMs: number, note: Statement): Promise<void> {
  const set = { limits, updatedAt: nowMs }
  const upsert = db
    .insert(plans)
    .values({ name, ...set })
    .onConflictDoUpdate({ target: plans.name, set })
  await db.batch([upsert, note])
}

/** Deletes a plan that no account has; false when one has it, or there is no such plan. */
export async function deletePlan(db: Database, name: string, note: Statement): Promise<boolean> {
  const unused = sql`NOT EXISTS (SELECT 1 FROM teams WHERE teams.plan = ${name})`
  const [result] = await db.batch([db.delete(plans).where(and(eq(plans.name, name), unused)), note])
  return result.meta.changes > 0
}

/** The plan that the operator assigned to an account; null: none, undefined: there is no such account. */
export async function findTeamPlan(db: Database, teamId: string): Promise<string | null | undefined> {
  const row = await db.select({ plan: teams.plan }).from(teams).where(liveTeam(teamId)).get()
  return row?.plan
}

/** Assigns a plan to an account, or removes it with null; false: there is no such plan or account. */
export async function setTeamPlan(db: Database, teamId: string, plan: string | null, note: Statement): Promise<boolean> {
  const exists = plan === null ? undefined : sql`EXISTS (SELECT 1 FROM plans WHERE name = ${plan})`
  const set = db
    .update(teams)
    .set({ plan })
    .where(and(liveTeam(teamId), exists))
  const [result] = await db.batch([set, note])
  return result.meta.changes > 0
}

/** The limits that apply to an account besides its overrides (PLAN-2): its plan, and the default plan of all accounts. */
export interface PlansOfTeam {
  plan: { name: string; limits: PlanLimits } | null
  fallback: PlanLimits
}

/** The plans of an account: its own, or that of the account whose budgets it shares (PLAN-5). */
export function findPlansOf(db: Database, teamId: string): Promise<PlansOfTeam> {
  return selectPlans(db, sql`(SELECT plan FROM teams WHERE id = ${payerOf(teamId)})`)
}

/** The plans of an account that has the plan with this name, or none. */
export function findPlans(db: Database, plan: string | null): Promise<PlansOfTeam> {
  return selectPlans(db, sql`${plan}`)
}

/** The account whose budgets a team would have with this plan, or with none (PLAN-5). */
export async function findBudgetsTeam(db: Database, teamId: string, plan: string | null): Promise<string> {
  if (plan !== null) return teamId
  const row = await db.select({ maker: teams.makerTeamId }).from(teams).where(eq(teams.id, teamId)).get()
  return row?.maker ?? teamId
}

async function selectPlans(db: Database, own: SQL): Promise<PlansOfTeam> {
  const rows = await db
    .select({ name: plans.name, limits: plans.limits, isOwn: sql<number>`${plans.name} = ${own}` })
    .from(plans)
    .where(sql`${plans.name} IN (${DEFAULT_PLAN}, ${own})`)
    .all()
  const found = rows.find(({ isOwn }) => isOwn === 1)
  return {
    plan: found ? { name: found.name, limits: found.limits } : null,
    fallback: rows.find(({ name }) => name === DEFAULT_PLAN)?.limits ?? {},
  }
}

function liveTeam(teamId: string) {
  return and(eq(teams.id, teamId), isNull(teams.deletedAt))
}
