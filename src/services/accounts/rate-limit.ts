import { Problem } from '../../contract/problems.ts'
import { findQuota, type QuotaRow } from '../../db/accounts/accounts.ts'
import { openDatabase } from '../../db/client.ts'
import { isLongWrite } from '../../domain/newest-write.ts'
import { type RateOutcome, type RateVerdict, spenderOf, verdictOf } from '../../domain/rate-limit.ts'
import { payerOf } from '../../effects/payer.ts'
import { type Env, readSettings } from '../../env.ts'
import { ownTeam, ownUser } from '../../objects/ownership/own.ts'
import { podLimiterStub, rateLimiterStub } from '../../objects/stubs.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { logEvent, tryLogged } from '../../platform/log.ts'
import { type Counted, countedAsRequest } from '../../rpc/counted.ts'
import type { Principal } from '../context.ts'
import { type RateLimitHeaders, rateLimitHeaders } from './rate-limit-headers.ts'

/** How long another isolate may use a quota after a change. */
const QUOTA_TTL_MS = 60_000
const MAX_QUOTAS = 10_000

/** The caller of a request, and the account whose quota applies. */
type Caller = Pick<Principal, 'via' | 'credentialId' | 'userId' | 'teamId'>
type Person = Pick<Principal, 'userId' | 'teamId'>

/** The count of a request: its verdict (null: none), and whether the counter knows of it. */
interface Spent {
  verdict: RateVerdict | null
  /** A state of the database that contains all that the caller has written; null: not known. */
  bookmark: string | null
  isHeard: boolean
}

const UNHEARD: Spent = { verdict: null, bookmark: null, isHeard: false }

const quotas = new ExpiringCache<QuotaRow>(QUOTA_TTL_MS, MAX_QUOTAS)

/**
 * Counts one REST request of the caller under the quota of the account that it acts for: members of one account cannot use up each other's
 * quota, and its pods none of theirs (RATE-1, CAP-1). `ends`: the request ends a resource and may use the reserve (CAP-3). There is no
 * verdict for an exempt account, which has no windows (RATE-3), and while the counter cannot be reached: limits protect other tenants from a flood and
 * must not stop the service (RATE-7).
 */
async function spendRequest(env: Env, caller: Caller, nowMs: number, ends: boolean, onlyReads = false): Promise<Spent> {
  const quota = await quotaOf(env, caller.teamId, nowMs)
  if (quota.exempt) return UNHEARD
  const { minute, hour, day } = quota
  const { podId } = spenderOf(caller)
  try {
    if (onlyReads && podId === undefined && readSettings(env).hasReadReplicas) {
      const { outcome, bookmark } = await rateLimiterStub(env, ownUser(caller)).takeRead(minute, hour, day)
      return { verdict: verdictOf(quota, outcome), bookmark, isHeard: true }
    }
    const outcome =
      podId === undefined
        ? await rateLimiterStub(env, ownUser(caller)).take(minute, hour, day, undefined, ends, '', ends ? caller.credentialId : undefined)
        : await spendOfPod(env, caller, quota, nowMs, ends, podId)
    return { verdict: verdictOf(quota, outcome, ends), bookmark: null, isHeard: true }
  } catch (error) {
    logEvent('error', 'a request could not be counted', { userId: caller.userId, error })
    return UNHEARD
  }
}

/** All pods that a user pays for, in any organization, are counted together under that user's quota (CAP-2, SHR-45). */
async function spendOfPod(env: Env, caller: Person, quota: QuotaRow, nowMs: number, ends: boolean, podId: string): Promise<RateOutcome> {
  const payer = await payerOf(env, caller.teamId, nowMs)
  const together = payer === caller.teamId ? quota : await quotaOf(env, payer, nowMs)
  const counter = podLimiterStub(env, ownTeam({ ...caller, teamId: payer }))
  return counter.take(quota.minute, quota.hour, quota.day, undefined, ends, podId, undefined, together)
}

/**
 * Counts one REST request; returns the verdict and, unless it is refused, the proof that the caller may write (SHR-3). A request that
 * `onlyReads` has the bookmark of the caller's writes if that is known.
 */
export async function countRequest(
  env: Env,
  caller: Caller,
  nowMs: number,
  ends = false,
  onlyReads = false,
): Promise<Spent & { counted?: Counted }> {
  const spent = await spendRequest(env, caller, nowMs, ends, onlyReads)
  return { ...spent, ...(spent.verdict?.allowed !== false && { counted: countedAsRequest() }) }
}

/**
 * Announces the writes of a request before it is answered, unless its count at `nowMs` has (RATE-34): the caller's next list must contain
 * them. That costs a call only after a request that took long, of an exempt account, or while the counter could not be reached.
 */
export async function announceWrites(env: Env, caller: Caller, { isHeard }: Pick<Spent, 'isHeard'>, nowMs: number): Promise<void> {
  if (!readSettings(env).hasReadReplicas || spenderOf(caller).podId !== undefined) return
  if (isHeard && !isLongWrite(nowMs, Date.now())) return
  const { userId } = caller
  await tryLogged('error', 'a write could not be announced: lists may lack it for a while', { userId }, async () => {
    await rateLimiterStub(env, ownUser(caller)).wrote()
  })
}

/** A counted operation: what is left of the windows (null: there are none), and the proof that its rows may be written (SHR-3). */
export interface Charge {
  counted: Counted
  rateLimit: RateLimitHeaders | null
}

/** Counts an operation that is no REST request but writes rows for a user, such as a sign-in (DER-13). Throws 429. */
export async function chargeRequest(env: Env, person: Person, nowMs: number): Promise<Charge> {
  const charge = await tryCharge(env, person, nowMs)
  if ('exceeded' in charge) throw tooManyRequests(charge)
  return charge
}

/** Counts such an operation; returns the verdict instead of throwing when it exceeds the limit. */
export async function tryCharge(env: Env, person: Person, nowMs: number): Promise<Charge | RateVerdict> {
  const { verdict } = await spendRequest(env, { via: 'SESSION', credentialId: '', ...person }, nowMs, false)
  if (verdict?.allowed === false) return verdict
  return { counted: countedAsRequest(), rateLimit: verdict && rateLimitHeaders(verdict) }
}

/** Returns the 429 for a request that exceeds the limit (RATE-4). */
export function tooManyRequests(verdict: RateVerdict): Problem {
  return new Problem('rateLimited', {
    detail: `rate limit exceeded for the ${verdict.exceeded} window`,
    headers: { ...rateLimitHeaders(verdict), 'Retry-After': String(verdict.retryAfterSeconds) },
  })
}

/** Whether a team is exempt from limits, including those of job API calls. */
export async function isExempt(env: Env, teamId: string, nowMs: number): Promise<boolean> {
  return (await quotaOf(env, teamId, nowMs)).exempt
}

/** Drops a team's cached quota in this isolate after a change made here. */
export function dropQuota(teamId: string): void {
  quotas.delete(teamId)
}

/** Drops all cached quotas in this isolate, because a plan was changed here. */
export function dropQuotas(): void {
  quotas.clear()
}

async function quotaOf(env: Env, teamId: string, nowMs: number): Promise<QuotaRow> {
  const known = quotas.get(teamId, nowMs)
  if (known) return known
  const quota = await findQuota(openDatabase(env.DB), teamId)
  quotas.set(teamId, quota, nowMs)
  return quota
}
