import { readBudgets } from '../../db/accounts/budgets.ts'
import { openDatabase } from '../../db/client.ts'
import type { Means } from '../../domain/explain/means.ts'
import type { Env } from '../../env.ts'
import { readUse, viewSpend } from '../billing/spend.ts'
import { knownMeans } from './memory.ts'

/** Returns the budgets and spend limits that remain to an account, in at most four statements. */
export function readMeans(env: Env, teamId: string, nowMs: number): Promise<Means> {
  return knownMeans.load(teamId, nowMs, () => read(env, teamId, nowMs))
}

async function read(env: Env, teamId: string, nowMs: number): Promise<Means> {
  const db = openDatabase(env.DB)
  const [view, { gpus, pods }] = await Promise.all([viewSpend(env, teamId), readBudgets(db, teamId, ['gpus', 'pods'])])
  return { limits: view.limits, use: await readUse(env, teamId, view, nowMs), gpus, pods }
}
