import { findPayer } from '../db/accounts/budgets.ts'
import { openDatabase } from '../db/client.ts'
import type { Env } from '../env.ts'
import { ExpiringCache } from '../platform/expiring-cache.ts'

/** How long a change of the payer may stay unnoticed after an organization gained or lost a plan. */
const TTL_MS = 60_000
const MAX_PAYERS = 10_000

const payers = new ExpiringCache<string>(TTL_MS, MAX_PAYERS)

/**
 * Returns the account whose share covers a team's connections, images, pulls, host ports and its pods' requests: the team itself, or the
 * creator of an organization without a plan (SHR-30, SHR-45, PLAN-5).
 */
export function payerOf(env: Env, teamId: string, nowMs: number): Promise<string> {
  return payers.load(teamId, nowMs, () => findPayer(openDatabase(env.DB), teamId))
}
