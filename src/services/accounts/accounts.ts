import type { CreateKeyRequest, Key, User } from '../../contract/accounts/accounts.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import * as accounts from '../../db/accounts/accounts.ts'
import * as keys from '../../db/accounts/api-keys.ts'
import { openDatabase } from '../../db/client.ts'
import { formatApiKey, parseApiKey, SECRET_BYTES } from '../../domain/key-text.ts'
import type { Env } from '../../env.ts'
import { hashKeySecret } from '../../platform/crypto.ts'
import { newKeyId, newResourceId } from '../../platform/ids.ts'
import { DELETED, noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { forgetVerdicts } from './authenticate.ts'
import { forgetQuota } from './rate-limit.ts'

// Verbs of the operator: the route has checked the operator's key, which may do all of this (AUT-4a).

/** Most users that one answer lists. */
const MAX_LISTED_USERS = 1000

/** Creates a user with a personal team. Addresses are one whatever their case. Throws 409 when the address is taken. */
export async function createUser(ctx: OperatorContext, email: string): Promise<User> {
  const { env, nowMs } = ctx
  const user = { id: newResourceId(), email: email.toLowerCase(), personalTeamId: newResourceId(), createdAt: nowMs, deletedAt: null }
  const after = { email: user.email }
  const note = noteByOperator(ctx, user.personalTeamId, {
    action: 'users.create',
    resourceKind: 'users',
    resourceId: user.id,
    before: null,
    after,
  })
  if (!(await accounts.insertUser(openDatabase(env.DB), user, note))) throw new Problem('conflict', { detail: 'email is taken' })
  return toUser(user)
}

/** The user with that address, or the first users by address. */
export async function listUsers(env: Env, email: string | undefined): Promise<User[]> {
  const db = openDatabase(env.DB)
  if (email === undefined) return (await accounts.listUsers(db, MAX_LISTED_USERS)).map(toUser)
  const user = await accounts.findUserByEmail(db, email.toLowerCase())
  return user ? [toUser(user)] : []
}

/** Makes an API key for a user's personal team. The key is returned this once. Throws 400 and 404. */
export async function createKey(
  ctx: OperatorContext,
  userId: string,
  body: CreateKeyRequest,
): Promise<{ id: string; name: string; key: string }> {
  const { env, nowMs } = ctx
  const user = await findUserOrThrow(env, userId)
  const permission = body.permission ?? 'ALL'
  if ((permission === 'RESTRICTED') !== (body.scopes !== undefined)) {
    throw new Problem('badRequest', { detail: 'scopes go with permission RESTRICTED, and only with it' })
  }
  const id = newKeyId()
  const key = formatApiKey(id, crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  const row: keys.ApiKeyRow = {
    id,
    teamId: user.personalTeamId,
    userId,
    name: body.name,
    permission,
    scopes: body.scopes ?? [],
    secretHash: await hashKeySecret(env.KEY_PEPPER, parseApiKey(key)?.secret ?? ''),
    createdAt: nowMs,
    expiresAt: body.expiresAt === undefined ? null : Date.parse(body.expiresAt),
    revokedAt: null,
    lastUsedAt: null,
    replacedBy: null,
  }
  const after = { name: row.name, userId, permission, scopes: row.scopes, expiresAt: row.expiresAt }
  const note = noteByOperator(ctx, row.teamId, { action: 'keys.create', resourceKind: 'keys', resourceId: id, before: null, after })
  await keys.insertApiKey(openDatabase(env.DB), row, note)
  return { id, name: body.name, key }
}

/** A user's keys without their secrets, revoked ones included. Throws 404. */
export async function listKeys(env: Env, userId: string): Promise<Key[]> {
  await findUserOrThrow(env, userId)
  return (await keys.listApiKeys(openDatabase(env.DB), userId)).map(toKey)
}

/** Revokes a key: refused at once here, within 60 s everywhere. Throws 404 for an unknown or already revoked key. */
export async function revokeKey(ctx: OperatorContext, id: string): Promise<void> {
  const note = noteByOperator(ctx, keys.teamOfKey(id), { action: 'keys.revoke', resourceKind: 'keys', resourceId: id, ...DELETED })
  if (!(await keys.revokeApiKey(openDatabase(ctx.env.DB), id, ctx.nowMs, note))) throw new Problem('notFound')
  forgetVerdicts()
}

/** Overrides a user's request quotas (AUT-4a); felt within 60 s. Throws 404. */
export async function setQuotas(ctx: OperatorContext, userId: string, quota: accounts.QuotaRow): Promise<accounts.QuotaRow> {
  const { env, nowMs } = ctx
  const user = await findUserOrThrow(env, userId)
  const change = { action: 'quotas.set', resourceKind: 'users', resourceId: userId, before: {}, after: { quotas: { ...quota } } }
  await accounts.upsertQuota(openDatabase(env.DB), user.personalTeamId, quota, nowMs, noteByOperator(ctx, user.personalTeamId, change))
  forgetQuota(user.personalTeamId)
  return quota
}

async function findUserOrThrow(env: Env, id: string): Promise<accounts.UserRow> {
  const user = await accounts.findUser(openDatabase(env.DB), id)
  if (!user) throw new Problem('notFound')
  return user
}

function toUser({ id, email, createdAt }: accounts.UserRow): User {
  return { id, email, createdAt: formatTime(createdAt) }
}

function toKey(row: keys.ApiKeyRow): Key {
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

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : formatTime(ms)
}
