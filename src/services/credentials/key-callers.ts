import { touchApiKey } from '../../db/accounts/api-keys.ts'
import { openDatabase } from '../../db/client.ts'
import { parseApiKey } from '../../domain/key-text.ts'
import { issuePodKey } from '../../effects/pods/pod-key.ts'
import type { Env } from '../../env.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import type { Principal } from '../context.ts'
import { type Authentication, INVALID, type Visit } from './authentication.ts'
import { CachedDecisions, MAX_CACHED_DECISIONS } from './cached-decisions.ts'
import { lookUpFor } from './lookups.ts'
import { isExpired, type KeyDecision, verifyKey } from './verify-key.ts'

/** How long a key that was valid is looked up without regard to the misses of its source. */
const FAMILIAR_TTL_MS = 3_600_000

/** Indexed by the key's text and not by the header, so that different spellings of a header share one entry. */
const keys = new CachedDecisions<KeyDecision, true>()
const familiar = new ExpiringCache<true>(FAMILIAR_TTL_MS, MAX_CACHED_DECISIONS)

/**
 * Returns the caller behind a key. Zero D1 queries when warm; a malformed key never reaches D1, an unknown one at a limited rate (KEY-10).
 * Without a `visit` no miss is counted and the last use is not written.
 */
export async function authenticateKey(env: Env, key: string, nowMs: number, visit: Visit | undefined): Promise<Authentication> {
  const known = keys.goodOf(key, nowMs)
  if (known) return answerOf(known, nowMs)
  if (keys.badOf(key, nowMs)) return INVALID
  const mark = keys.mark()
  const isFamiliar = visit === undefined || familiar.get(key, nowMs) !== undefined
  const lookup = isFamiliar ? { found: await verifyKey(env, key, nowMs) } : await verifyUnfamiliar(env, key, nowMs, visit)
  if ('waitSeconds' in lookup) return { ok: false, problem: 'rateLimited', waitSeconds: lookup.waitSeconds }
  return judge(env, key, lookup.found, nowMs, visit, mark)
}

/** Whether a key still has all rights on its account that it had when `principal` was made (DER-42, DER-28). */
export function isKeyStillGood(env: Env, key: string, principal: Principal, nowMs: number, maxAgeMs: number): Promise<boolean> {
  const grantsAll = (answer: Authentication) => answer.ok && isWithin(principal, answer.principal)
  const holds = (known: KeyDecision) => grantsAll(answerOf(known, nowMs))
  return keys.isStillGood(key, nowMs, maxAgeMs, holds, async () => {
    const mark = keys.mark()
    return grantsAll(judge(env, key, await verifyKey(env, key, nowMs), nowMs, undefined, mark))
  })
}

/** Whether `now` has the same account and at least the scopes of `before`. */
export function isWithin(before: Principal, now: Principal): boolean {
  return now.teamId === before.teamId && [...before.scopes].every((scope) => now.scopes.has(scope))
}

/** Drops the cached decision of a terminated pod's key. */
export async function dropPodKey(env: Env, podId: string): Promise<void> {
  keys.discard(await issuePodKey(env, podId))
}

/** Number of entries about keys in this isolate. */
export function rememberedKeys(): number {
  return keys.size + familiar.size
}

function judge(env: Env, key: string, verdict: KeyDecision | null, nowMs: number, visit: Visit | undefined, mark: number): Authentication {
  if (!verdict) {
    keys.keepBad(key, true, nowMs, mark)
    return INVALID
  }
  keys.keepGood(key, verdict, nowMs, mark)
  familiar.set(key, true, nowMs)
  if (parseApiKey(key)) visit?.waitUntil(touchApiKey(openDatabase(env.DB), verdict.principal.credentialId, nowMs))
  return answerOf(verdict, nowMs)
}

function answerOf(verdict: KeyDecision, nowMs: number): Authentication {
  if (isExpired(verdict, nowMs)) return INVALID
  if (verdict.isSuspended) return { ok: false, problem: 'accountSuspended', sessionAccount: null }
  return { ok: true, principal: verdict.principal }
}

// A malformed key causes no D1 query and is therefore not counted as a miss.
function verifyUnfamiliar(env: Env, key: string, nowMs: number, visit: Visit) {
  const find = () => verifyKey(env, key, nowMs)
  const source = parseApiKey(key) ? visit.source() : null
  return source === null ? find().then((found) => ({ found })) : lookUpFor(`key ${source}`, nowMs, find)
}
