import type { ProblemKey } from '../../contract/problems.ts'
import { findOwner } from '../../db/accounts/accounts.ts'
import { findApiKey, touchApiKey } from '../../db/accounts/api-keys.ts'
import { openDatabase } from '../../db/client.ts'
import { parseApiKey, scopesOf } from '../../domain/access.ts'
import { findPodOfKey, issuePodKey } from '../../effects/pod-key.ts'
import type { Env } from '../../env.ts'
import { hashKeySecret, sameSecret } from '../../platform/crypto.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import type { Principal } from '../context.ts'

/** What is wrong with an `Authorization` header (ERR-8). */
export type KeyProblem = Extract<ProblemKey, 'missingToken' | 'invalidToken'>
export type Authentication = { ok: true; principal: Principal } | { ok: false; problem: KeyProblem }

/** How long a verdict may outlive its revocation. */
export const VERDICT_TTL_MS = 60_000
const MAX_VERDICTS = 10_000
/** An operator key shorter than this is taken as "not set": an empty or toy secret must not open the operator API. */
const MIN_OPERATOR_KEY_LENGTH = 16

interface Verdict {
  principal: Principal
  expiresAtMs: number | null
}

/** Good verdicts only, by the whole header, in memory only. A bad key always asks D1, so a new key works at once. */
const verdicts = new ExpiringCache<Verdict>(VERDICT_TTL_MS, MAX_VERDICTS)

const MISSING: Authentication = { ok: false, problem: 'missingToken' }
const INVALID: Authentication = { ok: false, problem: 'invalidToken' }

/**
 * Tells who an `Authorization` header belongs to (ERR-8). Zero D1 queries when warm; a malformed key never reaches D1.
 * `waitUntil` lets the note of last use outlive the response; without it no note is written.
 */
export async function authenticate(
  env: Env,
  authorization: string | null,
  nowMs: number,
  waitUntil?: (promise: Promise<unknown>) => void,
): Promise<Authentication> {
  if (authorization === null) return MISSING
  const known = verdicts.get(authorization, nowMs)
  if (known) return isExpired(known, nowMs) ? INVALID : { ok: true, principal: known.principal }
  const token = bearerToken(authorization)
  if (token === null) return MISSING
  const verdict = await lookUp(env, token, nowMs)
  if (!verdict) return INVALID
  verdicts.set(authorization, verdict, nowMs)
  if (parseApiKey(token)) waitUntil?.(touchApiKey(openDatabase(env.DB), verdict.principal.keyId, nowMs))
  return { ok: true, principal: verdict.principal }
}

/** Says whether a header carries the operator's key (AUT-4a); null means it does, else why not. */
export async function authenticateOperator(env: Env, authorization: string | null): Promise<KeyProblem | null> {
  const token = authorization === null ? null : bearerToken(authorization)
  if (token === null) return 'missingToken'
  const isSet = (env.OPERATOR_KEY ?? '').length >= MIN_OPERATOR_KEY_LENGTH
  return isSet && (await sameSecret(token, env.OPERATOR_KEY)) ? null : 'invalidToken'
}

/** Forgets every key verdict of this isolate: a revocation made here bites here at once. */
export function forgetVerdicts(): void {
  verdicts.clear()
}

/** Forgets the key of a pod that is terminated. */
export async function forgetPodKey(env: Env, podId: string): Promise<void> {
  verdicts.delete(`Bearer ${await issuePodKey(env, podId)}`)
}

/** The token of `Bearer <token>`; the scheme's case does not matter (RFC 9110). Null for any other header. */
function bearerToken(authorization: string): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null
}

async function lookUp(env: Env, token: string, nowMs: number): Promise<Verdict | null> {
  const parsed = parseApiKey(token)
  if (!parsed) return lookUpPodKey(env, token)
  const row = await findApiKey(openDatabase(env.DB), parsed.id)
  if (!row || row.revokedAt !== null) return null
  const hash = await hashKeySecret(env.KEY_PEPPER, parsed.secret)
  if (!(await sameSecret(hash, row.secretHash))) return null
  const scopes = scopesOf(row.permission, row.scopes)
  const verdict = { principal: { keyId: row.id, userId: row.userId, teamId: row.teamId, scopes }, expiresAtMs: row.expiresAt }
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
  return { principal: { keyId: `pod:${podId}`, userId, teamId, scopes }, expiresAtMs: null }
}

function isExpired({ expiresAtMs }: Verdict, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs
}
