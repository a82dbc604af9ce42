import type { CreateKeyRequest, Key } from '../../contract/accounts/keys.ts'
import { KEY_DEFAULTS } from '../../contract/defaults.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime, timeOrNull } from '../../contract/timestamps.ts'
import * as keys from '../../db/accounts/api-keys.ts'
import { openDatabase } from '../../db/client.ts'
import { formatApiKey, parseApiKey, SECRET_BYTES } from '../../domain/key-text.ts'
import type { Env } from '../../env.ts'
import { hashKeySecret } from '../../platform/crypto.ts'
import { newKeyId } from '../../platform/ids.ts'
import { DELETED, noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { dropCachedDecisions } from '../credentials/cached-decisions.ts'
import { findUserOrThrow } from '../or-not-found.ts'

// Keys as the operator creates and revokes them (AUT-4a), and shared functions that create and show keys.

/** Creates an API key for a user's personal team. The key is returned only here. Throws 400 and 404. */
export async function createKey(
  ctx: OperatorContext,
  userId: string,
  body: CreateKeyRequest,
): Promise<{ id: string; name: string; key: string }> {
  const { env, nowMs } = ctx
  const user = await findUserOrThrow(env, userId)
  requireScopesWithRestricted(body)
  const { row, key } = await newKey(env, { ...body, teamId: user.personalTeamId, userId }, nowMs)
  const { id, teamId, name, permission, scopes, expiresAt } = row
  const after = { name, userId, permission, scopes, expiresAt }
  const note = noteByOperator(ctx, teamId, { action: 'keys.create', resourceKind: 'key', resourceId: id, before: null, after })
  await keys.insertApiKey(openDatabase(env.DB), row, note)
  return { id: row.id, name: row.name, key }
}

/** Returns a user's keys without their secrets, revoked ones included. Throws 404. */
export async function listKeys(env: Env, userId: string): Promise<Key[]> {
  await findUserOrThrow(env, userId)
  return (await keys.listApiKeys(openDatabase(env.DB), userId)).map(toKey)
}

/** Revokes a key: refused at once by this isolate, within 60 s everywhere. Throws 404 for an unknown or already revoked key. */
export async function revokeKey(ctx: OperatorContext, id: string): Promise<void> {
  const note = noteByOperator(ctx, keys.teamOfKey(id), { action: 'keys.revoke', resourceKind: 'key', resourceId: id, ...DELETED })
  if (!(await keys.revokeApiKey(openDatabase(ctx.env.DB), id, ctx.nowMs, note))) throw new Problem('notFound')
  dropCachedDecisions()
}

/** Throws 400 when a key has scopes without being RESTRICTED, or the other way round (KEY-4). */
export function requireScopesWithRestricted({ permission, scopes }: Pick<CreateKeyRequest, 'permission' | 'scopes'>): void {
  if ((permission === 'RESTRICTED') !== (scopes !== undefined)) {
    throw new Problem('badRequest', { detail: 'scopes go with permission RESTRICTED, and only with it' })
  }
}

/** Returns the row and the text of a new key. The text cannot be recovered later, because the row holds only a hash. */
export async function newKey(
  env: Env,
  asked: Pick<CreateKeyRequest, 'name' | 'permission' | 'scopes'> & {
    teamId: string
    userId: string
    expiresAt?: string | number | null | undefined
    parent?: string | null
  },
  nowMs: number,
): Promise<{ row: keys.ApiKeyRow; key: string }> {
  const id = newKeyId()
  const key = formatApiKey(id, crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  const row = {
    id,
    teamId: asked.teamId,
    userId: asked.userId,
    name: asked.name,
    permission: asked.permission ?? KEY_DEFAULTS.permission,
    scopes: asked.scopes ?? [],
    secretHash: await hashKeySecret(env.KEY_PEPPER, parseApiKey(key)?.secret ?? ''),
    createdAt: nowMs,
    expiresAt: typeof asked.expiresAt === 'string' ? Date.parse(asked.expiresAt) : (asked.expiresAt ?? null),
    revokedAt: null,
    lastUsedAt: null,
    replacedBy: null,
    parent: asked.parent ?? null,
  }
  return { row, key }
}

/** Returns a key without its secret, which is not stored. */
export function toKey(row: keys.ApiKeyRow): Key {
  return {
    id: row.id,
    name: row.name,
    permission: row.permission,
    scopes: row.scopes,
    createdAt: formatTime(row.createdAt),
    expiresAt: timeOrNull(row.expiresAt),
    revokedAt: timeOrNull(row.revokedAt),
    lastUsedAt: timeOrNull(row.lastUsedAt),
  }
}
