import type { UserLimits } from '../../contract/accounts/user-limits.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { findQuota } from '../../db/accounts/accounts.ts'
import { findSuspension } from '../../db/accounts/suspension.ts'
import { openDatabase } from '../../db/client.ts'
import type { Env } from '../../env.ts'
import { summaryOf } from '../billing/spend.ts'
import { limitsOf } from '../budgets.ts'
import { findUserOrThrow } from '../or-not-found.ts'

/** Returns the use, spending and limits of a user's account (UI-68). Throws 404. */
export async function getUserLimits(env: Env, userId: string, nowMs: number): Promise<UserLimits> {
  const db = openDatabase(env.DB)
  const { personalTeamId: teamId } = await findUserOrThrow(env, userId)
  const [suspendedAtMs, { minute, hour, day, exempt }, budgets, spend] = await Promise.all([
    findSuspension(db, teamId),
    findQuota(db, teamId),
    limitsOf(env, teamId, nowMs),
    summaryOf(env, teamId, nowMs),
  ])
  const suspendedAt = suspendedAtMs === null ? null : formatTime(suspendedAtMs)
  return { suspendedAt, requests: { minute, hour, day, exempt }, budgets, spend }
}
