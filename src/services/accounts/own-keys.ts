import type { AccountKey, CreatedAccountKey, CreateKeyRequest, RotateKeyRequest } from '../../contract/accounts/keys.ts'
import { KEY_DEFAULTS, KEY_OVERLAP_SECONDS } from '../../contract/defaults.ts'
import { Problem } from '../../contract/problems.ts'
import type { ApiKeyRow } from '../../db/accounts/api-keys.ts'
import * as table from '../../db/accounts/own-keys.ts'
import { openDatabase } from '../../db/client.ts'
import { hasScope } from '../../domain/access.ts'
import { type Grant, outlives, scopeNotHeld } from '../../domain/key-grant.ts'
import { type Parent, writeParent } from '../../domain/session/parent.ts'
import { noteChange } from '../audit.ts'
import { requireBudget } from '../budgets.ts'
import type { Principal, VerbContext } from '../context.ts'
import { dropCachedDecisions } from '../credentials/cached-decisions.ts'
import { onceForKey } from '../idempotency.ts'
import { refuseLimit } from '../refuse-limit.ts'
import { lacksScope, requireScope } from '../require-scope.ts'
import { newKey, requireScopesWithRestricted, toKey } from './keys.ts'

/** Returns the keys of the account: all of them for callers with `account:write`, else those of their own user (TEAM-20). Throws 403. */
export async function listOwnKeys(ctx: VerbContext): Promise<AccountKey[]> {
  const { principal, env, nowMs } = ctx
  if (principal.via !== 'SESSION') requireScope(principal, 'account:read')
  const maker = managesAccount(principal) ? null : principal.userId
  return (await table.listTeamKeys(openDatabase(env.DB), principal.teamId, maker, nowMs)).map(toAccountKey)
}

/**
 * Creates a key that acts for this account (TEAM-20, TEAM-21): a session creates it for its user, a key with `account:write` for its own
 * creator. The key is returned only here; a repeated `Idempotency-Key` answers without it, because only a hash is stored (KEY-2).
 * `derivedFrom` names the credential that the key ends with (DER-8). Throws 400, 403, 409 and 422.
 */
export async function createOwnKey(
  ctx: VerbContext,
  body: CreateKeyRequest,
  idempotencyKey: string | undefined,
  derivedFrom?: Parent | null,
): Promise<CreatedAccountKey> {
  const { principal, env } = ctx
  await requireMayGrant(ctx, body)
  const parent = derivedFrom ? writeParent(derivedFrom) : await parentOfCaller(ctx)
  return onceForKey<CreatedAccountKey>(ctx, 'createAccountKey', idempotencyKey, body, async (store) => {
    const { row, key } = await newKey(env, { ...body, parent, teamId: principal.teamId, userId: principal.userId }, ctx.nowMs)
    await requireBudget(env, principal.teamId, { apiKeys: 1 })
    const shown = toAccountKey(row)
    const note = noteChange(ctx, { action: 'keys.create', resourceKind: 'key', resourceId: row.id, before: null, after: shown })
    const outcome = await table.insertOwnKey(openDatabase(env.DB), row, [note, ...store({ ...shown, key: null })])
    return outcome === 'done' ? { ...shown, key } : refuseLimit(ctx, outcome, { apiKeys: 1 })
  })
}

/** Throws unless the caller may create a key with these rights for this account (TEAM-20, TEAM-21, ACC-8): 400 and 403. */
export async function requireMayGrant(
  ctx: VerbContext,
  asked: Partial<Pick<CreateKeyRequest, 'permission' | 'scopes' | 'expiresAt'>>,
): Promise<void> {
  const { permission, scopes, expiresAt } = asked
  if (ctx.principal.via !== 'SESSION') requireScope(ctx.principal, 'account:write')
  requireScopesWithRestricted({ permission, scopes })
  await requireHeld(ctx, { permission: permission ?? KEY_DEFAULTS.permission, scopes: scopes ?? [] })
  await requireNoLonger(ctx, expiresAt === undefined ? null : Date.parse(expiresAt))
}

/**
 * Replaces one of the caller's own keys by a new one; the previous key stays valid for `overlapSeconds` (TEAM-22). Throws 403, 404 for any
 * other key, and 409 for one that has ended or was rotated already.
 */
export async function rotateOwnKey(ctx: VerbContext, id: string, { overlapSeconds }: RotateKeyRequest): Promise<CreatedAccountKey> {
  const { env, nowMs } = ctx
  const previous = await findRotatedKey(ctx, id)
  const { row, key } = await newKey(env, previous, nowMs)
  const shown = toAccountKey(row)
  const note = noteChange(ctx, { action: 'keys.rotate', resourceKind: 'key', resourceId: id, before: toAccountKey(previous), after: shown })
  if (!(await table.replaceKey(openDatabase(env.DB), previous, row, overlapEnd(nowMs, overlapSeconds), note))) throw hasEnded()
  dropCachedDecisions()
  return { ...shown, key }
}

/** Returns a key that the caller may rotate. Throws 403, and 404 for keys of other users. */
export async function findRotatedKey(ctx: VerbContext, id: string): Promise<ApiKeyRow> {
  const previous = await findOwnKey(ctx, id)
  if (previous.userId !== ctx.principal.userId) throw new Problem('notFound')
  const parent = await parentOfCaller(ctx)
  // The new key would not end together with the caller's own credential.
  if (parent !== null && previous.parent !== parent) {
    throw new Problem('accessDenied', {
      detail: 'a device key can rotate only itself and the keys that it created; rotate this key in the console',
    })
  }
  await requireHeld(ctx, previous)
  await requireNoLonger(ctx, previous.expiresAt)
  return previous
}

/** Returns the instant at which a key that is rotated at `nowMs` ends, in milliseconds. */
export function overlapEnd(nowMs: number, overlapSeconds: number | undefined): number {
  return nowMs + (overlapSeconds ?? KEY_OVERLAP_SECONDS) * 1000
}

/** Returns the 409 for a key that cannot be rotated. */
export function hasEnded(): Problem {
  return new Problem('conflict', { detail: 'the key is revoked, expired or already rotated' })
}

/**
 * Revokes a key: at once in this isolate, within 60 s everywhere. Keys of other users require `account:write`. Throws 403, and 404 also for
 * a revoked key.
 */
export async function revokeOwnKey(ctx: VerbContext, id: string): Promise<void> {
  const row = await findOwnKey(ctx, id)
  const after = { ...toAccountKey(row), revokedAt: new Date(ctx.nowMs).toISOString() }
  const note = noteChange(ctx, { action: 'keys.revoke', resourceKind: 'key', resourceId: id, before: toAccountKey(row), after })
  if (!(await table.revokeTeamKey(openDatabase(ctx.env.DB), row, ctx.nowMs, note))) throw new Problem('notFound')
  dropCachedDecisions()
}

/**
 * Returns a key that the caller may change: any key of the account with `account:write`, else one that the session's user created. Throws
 * 403 and 404.
 */
export async function findOwnKey({ principal, env }: VerbContext, id: string): Promise<ApiKeyRow> {
  if (principal.via !== 'SESSION') requireScope(principal, 'account:write')
  const row = await table.findTeamKey(openDatabase(env.DB), principal.teamId, id)
  if (!row || (row.userId !== principal.userId && !managesAccount(principal))) throw new Problem('notFound')
  return row
}

function managesAccount({ scopes }: Principal): boolean {
  return hasScope(scopes, 'account:write')
}

async function requireHeld({ env, principal }: VerbContext, grant: Grant): Promise<void> {
  const role = await table.findRole(openDatabase(env.DB), principal.teamId, principal.userId)
  if (role === null) throw new Problem('accessDenied')
  const missing = scopeNotHeld(grant, principal.scopes, role)
  if (missing !== null) throw lacksScope(principal, missing)
}

/** Throws 403 when a key that expires would create one that is valid for longer (ACC-8). */
async function requireNoLonger({ env, principal }: VerbContext, expiresAtMs: number | null): Promise<void> {
  if (principal.via !== 'KEY') return
  const own = await table.findTeamKey(openDatabase(env.DB), principal.teamId, principal.credentialId)
  const refused = own && outlives(expiresAtMs, own.expiresAt)
  if (refused) throw new Problem('accessDenied', { errors: [refused] })
}

/**
 * Returns the credential that the caller's key is derived from (DER-8); keys that it creates end with that credential too. Null: there is
 * none, or the caller uses no key.
 */
export async function parentOfCaller({ env, principal }: VerbContext): Promise<string | null> {
  if (principal.via !== 'KEY') return null
  return (await table.findTeamKey(openDatabase(env.DB), principal.teamId, principal.credentialId))?.parent ?? null
}

function toAccountKey(row: ApiKeyRow): AccountKey {
  return { ...toKey(row), prefix: `pp_${row.id}`, userId: row.userId, replacedBy: row.replacedBy }
}
