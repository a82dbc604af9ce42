import { findQuota, type QuotaRow } from '../../db/accounts/accounts.ts'
import { openDatabase } from '../../db/client.ts'
import { type RateVerdict, verdictOf } from '../../domain/rate-limit.ts'
import type { Env } from '../../env.ts'
import { type Counted, countedAsRequest } from '../../objects/counted.ts'
import { ownUser } from '../../objects/ownership/own.ts'
import { rateLimiterStub } from '../../objects/stubs.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { logEvent } from '../../platform/log.ts'
import type { Principal } from '../context.ts'

/** How long a changed quota may stay unnoticed by another isolate. */
const QUOTA_TTL_MS = 60_000
const MAX_QUOTAS = 10_000

const quotas = new ExpiringCache<QuotaRow>(QUOTA_TTL_MS, MAX_QUOTAS)

/**
 * Spends one REST request of the user who acts, by the quota of the account that is acted for: members of one account cannot use up each
 * other's (RATE-1). Null for an exempt account, which has no windows (RATE-3), and while nobody can count: limits protect neighbours from a
 * flood, so a counter that is away must not end the service (RATE-7).
 */
async function spendRequest(env: Env, principal: Principal, nowMs: number): Promise<RateVerdict | null> {
  const quota = await quotaOf(env, principal.teamId, nowMs)
  if (quota.exempt) return null
  const { minute, hour, day } = quota
  try {
    return verdictOf(quota, await rateLimiterStub(env, ownUser(principal)).take(minute, hour, day))
  } catch (error) {
    logEvent('error', 'a request could not be counted', { userId: principal.userId, error })
    return null
  }
}

/** The same, with the proof that whoever acts may write (SHR-3); none for a request that is one too many. */
export async function countRequest(
  env: Env,
  principal: Principal,
  nowMs: number,
): Promise<{ verdict: RateVerdict | null; counted?: Counted }> {
  const verdict = await spendRequest(env, principal, nowMs)
  return { verdict, ...(verdict?.allowed !== false && { counted: countedAsRequest() }) }
}

/** Whether a team is exempt from limits, its job API calls included. */
export async function isExempt(env: Env, teamId: string, nowMs: number): Promise<boolean> {
  return (await quotaOf(env, teamId, nowMs)).exempt
}

/** Forgets a team's quota in this isolate, after it was changed here. */
export function forgetQuota(teamId: string): void {
  quotas.delete(teamId)
}

/** The same of all teams: a plan was changed here. */
export function forgetQuotas(): void {
  quotas.clear()
}

async function quotaOf(env: Env, teamId: string, nowMs: number): Promise<QuotaRow> {
  const known = quotas.get(teamId, nowMs)
  if (known) return known
  const quota = await findQuota(openDatabase(env.DB), teamId)
  quotas.set(teamId, quota, nowMs)
  return quota
}
