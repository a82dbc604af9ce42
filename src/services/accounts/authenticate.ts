import type { ProblemKey } from '../../contract/problems.ts'
import { findOwner } from '../../db/accounts/accounts.ts'
import { findApiKey, touchApiKey } from '../../db/accounts/api-keys.ts'
import { findSuspension } from '../../db/accounts/suspension.ts'
import { openDatabase } from '../../db/client.ts'
import { scopesOf, scopesWithin } from '../../domain/access.ts'
import { parseApiKey } from '../../domain/key-text.ts'
import { findPodOfKey, issuePodKey } from '../../effects/pod-key.ts'
import type { Env } from '../../env.ts'
import { hashKeySecret, sameSecret } from '../../platform/crypto.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import type { Principal } from '../context.ts'
import { forgetMisses, lookUpFor } from './lookups.ts'

/** What is wrong with an `Authorization` header (ERR-8). */
export type KeyProblem = Extract<ProblemKey, 'missingToken' | 'invalidToken'>
export type Authentication =
  | { ok: true; principal: Principal }
  | { ok: false; problem: KeyProblem }
  /** The key is good, and its account suspended (PP-214). */
  | { ok: false; problem: 'accountSuspended' }
  | TooManyMisses
/** Unknown keys came too often from where this one comes (PP-200): it was not looked up. */
interface TooManyMisses {
  ok: false
  problem: 'rateLimited'
  waitSeconds: number
}

/** What the slow path of a key needs besides the key. */
export interface Visit {
  /** Whose failed look-ups count together; null: nobody knows, and none count. */
  source(): string | null
  /** Lets the note of last use outlive the response. */
  waitUntil(promise: Promise<unknown>): void
}

/** How long a verdict may outlive its revocation. */
export const VERDICT_TTL_MS = 60_000
const MAX_VERDICTS = 10_000
/** How long a key that nobody issued is refused without a look (PP-200). */
const REFUSED_TTL_MS = 5_000
/** How long a look for an open stream may take before another is made. */
const LOOK_MS = 5_000
/** How long a key that was good is looked up again whatever else comes from its address. */
const FAMILIAR_TTL_MS = 3_600_000
/** The longest header that is read: a key is far shorter, and a few spaces before it do no harm. */
const MAX_HEADER_CHARS = 512
/** An operator key shorter than this is taken as "not set": an empty or toy secret must not open the operator API. */
const MIN_OPERATOR_KEY_LENGTH = 16

interface Verdict {
  principal: Principal
  expiresAtMs: number | null
  isSuspended: boolean
}

/** Good verdicts, by the key's text and not by the header: however a header is spelled, a key is one entry. In memory only. */
const verdicts = new ExpiringCache<Verdict>(VERDICT_TTL_MS, MAX_VERDICTS)
const familiar = new ExpiringCache<true>(FAMILIAR_TTL_MS, MAX_VERDICTS)
/** Keys that D1 did not know. Ids are random, so nobody has asked for a new key before it was made. */
const refused = new ExpiringCache<true>(REFUSED_TTL_MS, MAX_VERDICTS)

/** Keys that are being looked up for open streams. Nobody waits for another's look, and one that is never answered is forgotten. */
const looking = new ExpiringCache<true>(LOOK_MS, MAX_VERDICTS)

const MISSING: Authentication = { ok: false, problem: 'missingToken' }
const INVALID: Authentication = { ok: false, problem: 'invalidToken' }
const SUSPENDED: Authentication = { ok: false, problem: 'accountSuspended' }

/**
 * Tells who an `Authorization` header belongs to (ERR-8). Zero D1 queries when warm; a malformed key never reaches D1, an unknown one only
 * so often (PP-200). Without a `visit` nothing is counted and no note of last use is written.
 */
export async function authenticate(env: Env, authorization: string | null, nowMs: number, visit?: Visit): Promise<Authentication> {
  const token = authorization === null ? null : bearerToken(authorization)
  if (token === null) return MISSING
  const known = verdicts.get(token, nowMs)
  if (known) return answerOf(known, nowMs)
  if (refused.get(token, nowMs)) return INVALID
  const isFamiliar = visit === undefined || familiar.get(token, nowMs) !== undefined
  const lookup = isFamiliar ? { found: await lookUp(env, token, nowMs) } : await lookUpStranger(env, token, nowMs, visit)
  if ('waitSeconds' in lookup) return { ok: false, problem: 'rateLimited', waitSeconds: lookup.waitSeconds }
  return judge(env, token, lookup.found, nowMs, visit)
}

function judge(env: Env, token: string, verdict: Verdict | null, nowMs: number, visit: Visit | undefined): Authentication {
  if (!verdict) {
    refused.set(token, true, nowMs)
    return INVALID
  }
  verdicts.set(token, verdict, nowMs)
  familiar.set(token, true, nowMs)
  if (parseApiKey(token)) visit?.waitUntil(touchApiKey(openDatabase(env.DB), verdict.principal.credentialId, nowMs))
  return answerOf(verdict, nowMs)
}

function answerOf(verdict: Verdict, nowMs: number): Authentication {
  if (isExpired(verdict, nowMs)) return INVALID
  return verdict.isSuspended ? SUSPENDED : { ok: true, principal: verdict.principal }
}

// What no formatter wrote costs D1 nothing, so it is no miss.
function lookUpStranger(env: Env, token: string, nowMs: number, visit: Visit) {
  const find = () => lookUp(env, token, nowMs)
  const source = parseApiKey(token) ? visit.source() : null
  return source === null ? find().then((found) => ({ found })) : lookUpFor(`key ${source}`, nowMs, find)
}

/**
 * Whether the key of a header is still good, by a look that is at most `maxAgeMs` old, whoever needed it (PP-215): a thousand streams of one
 * key cost one look. While that is under way the others go by what they knew, and come again.
 */
export async function isStillGood(env: Env, authorization: string | null, nowMs: number, maxAgeMs: number): Promise<boolean> {
  const token = authorization === null ? null : bearerToken(authorization)
  if (token === null || refused.get(token, nowMs)) return false
  const known = verdicts.get(token, nowMs + Math.max(0, VERDICT_TTL_MS - maxAgeMs))
  if (known) return answerOf(known, nowMs).ok
  if (looking.get(token, nowMs)) return true
  looking.set(token, true, nowMs)
  const found = await lookUp(env, token, nowMs)
  looking.delete(token)
  return judge(env, token, found, nowMs, undefined).ok
}

/** Says whether a header carries the operator's key (AUT-4a); null means it does, else why not. */
export async function authenticateOperator(env: Env, authorization: string | null): Promise<KeyProblem | null> {
  const token = authorization === null ? null : bearerToken(authorization)
  if (token === null) return 'missingToken'
  const operatorKey = env.OPERATOR_KEY ?? ''
  const isSet = operatorKey.length >= MIN_OPERATOR_KEY_LENGTH
  return isSet && (await sameSecret(token, operatorKey)) ? null : 'invalidToken'
}

/** Forgets every key verdict of this isolate: a revocation made here bites here at once. */
export function forgetVerdicts(): void {
  verdicts.clear()
  refused.clear()
  looking.clear()
  forgetMisses()
}

/** How much this isolate remembers of keys. */
export function rememberedKeys(): number {
  return verdicts.size + familiar.size + refused.size
}

/** Forgets the key of a pod that is terminated. */
export async function forgetPodKey(env: Env, podId: string): Promise<void> {
  verdicts.delete(await issuePodKey(env, podId))
}

/** The token of `Bearer <token>`; the scheme's case does not matter (RFC 9110). Null for any other header, and for an overlong one. */
function bearerToken(authorization: string): string | null {
  return authorization.length > MAX_HEADER_CHARS ? null : (/^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null)
}

async function lookUp(env: Env, token: string, nowMs: number): Promise<Verdict | null> {
  const parsed = parseApiKey(token)
  if (!parsed) return lookUpPodKey(env, token)
  const row = await findApiKey(openDatabase(env.DB), parsed.id)
  if (!row || row.revokedAt !== null) return null
  const hash = await hashKeySecret(env.KEY_PEPPER, parsed.secret)
  if (!(await sameSecret(hash, row.secretHash))) return null
  const scopes = scopesWithin(scopesOf(row.permission, row.scopes), row.role)
  const principal = { via: 'KEY' as const, credentialId: row.id, userId: row.userId, teamId: row.teamId, scopes }
  const verdict = { principal, expiresAtMs: row.expiresAt, isSuspended: row.suspendedAt !== null }
  return isExpired(verdict, nowMs) ? null : verdict
}

/** A pod acts for the owner of its account, on itself alone (AUT-6, RATE-1). */
async function lookUpPodKey(env: Env, token: string): Promise<Verdict | null> {
  const found = await findPodOfKey(env, token)
  if (!found) return null
  const { podId, teamId } = found
  const userId = await findOwner(openDatabase(env.DB), teamId)
  if (userId === null) return null
  const scopes = new Set([`pods:read@${podId}`, `pods:write@${podId}`])
  const isSuspended = (await findSuspension(openDatabase(env.DB), teamId)) !== null
  return { principal: { via: 'POD', credentialId: podId, userId, teamId, scopes }, expiresAtMs: null, isSuspended }
}

function isExpired({ expiresAtMs }: Verdict, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs
}
