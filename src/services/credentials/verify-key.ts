import { findOwner } from '../../db/accounts/accounts.ts'
import type { KnownApiKey } from '../../db/accounts/api-keys.ts'
import { findSuspension } from '../../db/accounts/suspension.ts'
import { openDatabase } from '../../db/client.ts'
import { scopesOf, scopesOfPodKey, scopesWithin } from '../../domain/access.ts'
import { parseApiKey } from '../../domain/key-text.ts'
import { findPodOfKey } from '../../effects/pods/pod-key.ts'
import type { Env } from '../../env.ts'
import { hashKeySecret, sameSecret } from '../../platform/crypto.ts'
import type { Principal } from '../context.ts'
import { findGoodKey } from './parents.ts'

/** The caller behind a key. */
export interface KeyDecision {
  principal: Principal
  expiresAtMs: number | null
  isSuspended: boolean
}

/** Looks up the caller behind the text of a key; null: invalid. A malformed text causes no query. */
export async function verifyKey(env: Env, text: string, nowMs: number): Promise<KeyDecision | null> {
  const parsed = parseApiKey(text)
  if (!parsed) return verifyPodKey(env, text)
  const row = await findGoodKey(env, parsed.id, nowMs)
  if (!row) return null
  const hash = await hashKeySecret(env.KEY_PEPPER, parsed.secret)
  return (await sameSecret(hash, row.secretHash)) ? verdictOf(row) : null
}

/** Looks up the caller behind a key that was verified before, by its id; null once it has ended (SESSION-3). */
export async function verifyKeyAgain(env: Env, id: string, nowMs: number): Promise<KeyDecision | null> {
  const row = await findGoodKey(env, id, nowMs)
  return row && verdictOf(row)
}

function verdictOf(row: KnownApiKey): KeyDecision {
  const scopes = scopesWithin(scopesOf(row.permission, row.scopes), row.role)
  const principal = { via: 'KEY' as const, credentialId: row.id, userId: row.userId, teamId: row.teamId, scopes }
  return { principal, expiresAtMs: row.expiresAt, isSuspended: row.suspendedAt !== null }
}

/** Whether a key has expired. */
export function isExpired({ expiresAtMs }: Pick<KeyDecision, 'expiresAtMs'>, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs
}

/** A pod's key acts for the owner of its account, on that pod only (AUT-6, RATE-1). */
async function verifyPodKey(env: Env, text: string): Promise<KeyDecision | null> {
  const found = await findPodOfKey(env, text)
  if (!found) return null
  const { podId, teamId } = found
  const userId = await findOwner(openDatabase(env.DB), teamId)
  if (userId === null) return null
  const scopes = scopesOfPodKey(podId)
  const isSuspended = (await findSuspension(openDatabase(env.DB), teamId)) !== null
  return { principal: { via: 'POD', credentialId: podId, userId, teamId, scopes }, expiresAtMs: null, isSuspended }
}
