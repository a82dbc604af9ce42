import { findPayer } from '../db/accounts/budgets.ts'
import { openDatabase } from '../db/client.ts'
import type { Env } from '../env.ts'
import { ExpiringCache } from '../platform/expiring-cache.ts'

/** How long another payer, after an organization got a plan or lost it, may stay unnoticed. */
const TTL_MS = 60_000
const MAX_PAYERS = 10_000

const payers = new ExpiringCache<string>(TTL_MS, MAX_PAYERS)

/** The account whose share a team's connections, images, pulls and ports of a machine take, and requests of its pods: its own, or its maker's while it is an organization without a plan (SHR-30, SHR-45, PLN-7). */
export async function payerOf(env: Env, teamId: string, nowMs: number): Promise<string> {
  const known = payers.get(teamId, nowMs)
  if (known !== undefined) return known
  const payer = await findPayer(openDatabase(env.DB), teamId)
  payers.set(teamId, payer, nowMs)
  return payer
}
