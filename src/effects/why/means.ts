import { readBudgets } from '../../db/accounts/budgets.ts'
import { readMonthSpend } from '../../db/billing/month-spend.ts'
import { openDatabase } from '../../db/client.ts'
import { monthOf } from '../../domain/billing/spend.ts'
import type { Means } from '../../domain/why/means.ts'
import type { Env } from '../../env.ts'
import { viewSpend } from '../billing/spend.ts'
import { knownMeans } from './memory.ts'

/** What an account may still take, in four statements at most. */
export async function readMeans(env: Env, teamId: string, nowMs: number): Promise<Means> {
  const remembered = knownMeans.get(teamId, Date.now())
  if (remembered) return remembered
  const atMs = Date.now()
  const means = await read(env, teamId, nowMs)
  knownMeans.set(teamId, means, atMs)
  return means
}

async function read(env: Env, teamId: string, nowMs: number): Promise<Means> {
  const db = openDatabase(env.DB)
  const [{ limits, nanosPerHour }, { gpus, pods }] = await Promise.all([viewSpend(env, teamId), readBudgets(db, teamId, ['gpus', 'pods'])])
  // Only a limit asks for the sum of a month.
  const monthMicros = limits.month.limitMicros === null ? null : await readMonthSpend(db, teamId, monthOf(nowMs), nowMs)
  return { limits, use: { nanosPerHour, monthMicros }, gpus, pods }
}
